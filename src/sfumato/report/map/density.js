// All flows at once: every straight line adds its people to the cells it crosses, and the sums are coloured. So a
// hundred thousand lines stay readable where lines drawn over each other would be one blot.

const SLICE = 9; // Milliseconds of work before the browser may draw a frame.
const STRIPE = 3;

function addLine(cells, across, down, x0, y0, x1, y1, people) {
  let from = 0, to = 1;
  const dx = x1 - x0, dy = y1 - y0;
  for (const [step, low, high] of [[dx, 1 - x0, across - 3 - x0], [dy, 1 - y0, down - 3 - y0]]) {
    if (step === 0) {
      if (low > 0 || high < 0) return;
      continue;
    }
    const [enter, leave] = step > 0 ? [low / step, high / step] : [high / step, low / step];
    if (enter > from) from = enter;
    if (leave < to) to = leave;
  }
  if (from > to) return;
  walk(cells, across, x0 + from * dx, y0 + from * dy, dx * (to - from), dy * (to - from), people);
}

// Along the longer side cell by cell; across it, shared between the two cells next to the line.
function walk(cells, across, x, y, dx, dy, people) {
  const steep = Math.abs(dy) > Math.abs(dx);
  const length = Math.floor(steep ? Math.abs(dy) : Math.abs(dx));
  const stride = (steep ? across : 1) * ((steep ? dy : dx) < 0 ? -1 : 1);
  const aside = steep ? 1 : across;
  const slope = length ? (steep ? dx : dy) / Math.abs(steep ? dy : dx) : 0;
  let along = steep ? Math.round(y) * across : Math.round(x);
  let minor = steep ? x : y;
  for (let i = 0; i <= length; i++) {
    const whole = minor | 0, part = (minor - whole) * people, at = along + whole * aside;
    cells[at] += people - part;
    cells[at + aside] += part;
    along += stride;
    minor += slope;
  }
}

// Runs a job in slices; false if it was given up because another has begun.
async function inSlices(size, isStale, work) {
  let until = performance.now() + SLICE;
  for (let i = 0; i < size; i++) {
    work(i);
    if (performance.now() < until) continue;
    await new Promise((done) => setTimeout(done));
    if (isStale()) return false;
    until = performance.now() + SLICE;
  }
  return true;
}

// `place` holds the points in cells; `shows` says which destinations take part.
async function sumLines({ flows, place, across, down, least, shows, isStale }) {
  const cells = new Float32Array(across * down);
  const done = await inSlices(flows.destinations.length, isStale, (run) => {
    const point = flows.destinations[run];
    if (!shows(point)) return;
    for (let pair = flows.start[run]; pair < flows.start[run + 1]; pair++) {
      const origin = flows.origins[pair], people = flows.counts[pair];
      if (origin === OUTSIDE || Math.abs(people) < least) continue;
      addLine(cells, across, down, place.x[origin], place.y[origin], place.x[point], place.y[point], people);
    }
  });
  return done ? cells : null;
}

// Colours by the logarithm of people, so that one person is seen beside a thousand. Fewer people are striped.
async function colourCells(cells, across, down, ramps, isStale) {
  const most = largest(cells);
  const image = new ImageData(across, down);
  const colours = new Uint32Array(image.data.buffer);
  const unit = 255 / Math.log1p(most);
  const done = await inSlices(down, isStale, (row) => {
    for (let i = row * across, end = i + across; i < end; i++) {
      const people = cells[i];
      if (people > 0) colours[i] = ramps.more[(Math.log1p(people) * unit) | 0];
      else if (people < 0) {
        const ramp = (i - row * across + row) % (2 * STRIPE) < STRIPE ? ramps.fewer : ramps.faint;
        colours[i] = ramp[(Math.log1p(-people) * unit) | 0];
      }
    }
  });
  return done ? { image, most } : null;
}

// 256 packed colours through the given stops, from nearly clear to opaque.
function rampOf(stops, strength = 1) {
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (stops.length - 1), first = Math.min(Math.floor(place), stops.length - 2), part = place - first;
    const [red, green, blue] = stops[first].map((value, k) => Math.round(value + (stops[first + 1][k] - value) * part));
    const alpha = Math.round(255 * strength * (0.1 + 0.9 * (i / 255) ** 1.5));
    return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}
