// What colours, sizes and lengths on the map mean.

function showLegend(most = 1) {
  element("legend").replaceChildren(...(state.chosen === NOWHERE ? densityLegend(most) : originLegend()));
}

const key = (...parts) => make("div", { class: "key" }, ...parts);

const RAMP_WIDTH = 180;
function swatch(ramp, faint) {
  const made = make("canvas", { width: RAMP_WIDTH, height: 12, "aria-hidden": "true" });
  const image = new ImageData(RAMP_WIDTH, 12), colours = new Uint32Array(image.data.buffer);
  colours.forEach((_, i) => {
    const x = i % RAMP_WIDTH, isGap = faint && (x + Math.floor(i / RAMP_WIDTH)) % (2 * STRIPE) >= STRIPE;
    colours[i] = (isGap ? faint : ramp)[Math.floor((255 * x) / RAMP_WIDTH)];
  });
  made.getContext("2d").putImageData(image, 0, 0);
  return made;
}

// Powers of ten along the logarithmic ramp.
function ticks(most) {
  const made = make("div", { class: "ticks" });
  for (let value = 1; value <= Math.max(most, 1); value *= 10) {
    const tick = made.appendChild(make("span", {}, compact.format(value)));
    tick.style.left = `${(100 * Math.log1p(value)) / Math.log1p(Math.max(most, 1))}%`;
  }
  return made;
}

function densityLegend(most) {
  const ramps = shownRamps();
  const line = (text, ...ramp) => key(make("div", { class: "ramp" }, swatch(...ramp), ticks(most)), text);
  const what = "People whose straight line passes here";
  if (!isDifference()) return [make("b", {}, what), line("", ramps.more)];
  return [
    make("b", {}, "Synthetic less original"), make("div", {}, what),
    line("+ more", ramps.more), line("− fewer, striped", ramps.fewer, ramps.faint),
  ];
}

function originLegend() {
  const most = origins[0]?.size ?? 1;
  const sizes = [...new Set([most, Math.round(most / 4), Math.round(most / 16)].map(roundDown))].filter((size) => size > 0);
  const circle = (size, name) => {
    const made = make("i", { class: `circle ${name}`, "aria-hidden": "true" });
    made.style.width = made.style.height = `${2 * radiusOf(size)}px`;
    return made;
  };
  const row = key(...sizes.flatMap((size) => [circle(size, isDifference() ? "more" : "people"), whole.format(size)]));
  const target = key(make("i", { class: "diamond", "aria-hidden": "true" }), "destination");
  if (!isDifference()) return [make("b", {}, "People by origin"), row, target];
  const cue = key(circle(most / 8, "more"), "+ more", circle(most / 8, "fewer"), "− fewer, hollow");
  return [make("b", {}, "Synthetic less original"), row, cue, target];
}

// A number of one leading digit, as scales have them.
function roundDown(value) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return Math.floor(value / unit) * unit;
}

const MAX_SCALE_WIDTH = 110;
function showScale() {
  const latitude = 2 * Math.atan(Math.exp(MIDDLE - view.y)) - Math.PI / 2;
  const perPixel = (EARTH_RADIUS * Math.cos(latitude)) / view.scale / given.kilometres;
  const exact = MAX_SCALE_WIDTH * perPixel;
  const unit = 10 ** Math.floor(Math.log10(exact));
  const length = [5, 2, 1].find((step) => step * unit <= exact) * unit;
  const bar = element("scale");
  bar.style.width = `${length / perPixel}px`;
  bar.textContent = `${Number(length.toPrecision(1))} ${given.unit}`;
}
