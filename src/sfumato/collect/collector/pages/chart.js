// Small charts in SVG, drawn at the width they are shown at; colours come from the style sheet by class.

const SVG = "http://www.w3.org/2000/svg";
// In pixels: how far apart labels should be, how far apart they are at least, and how far from an edge.
const LABEL_GAP = 22;
const MIN_LABEL_GAP = 6;
const LABEL_MARGIN = 1;

export const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const shape = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Round numbers from low to high, about `wanted` of them, none closer than `least`.
function ticks(low, high, wanted, least = 0) {
  const rough = Math.max((high - low) / Math.max(wanted, 1), least, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= rough * (1 - 1e-9));
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(i * step || 0);
  return found;
}

// An empty chart: x from low to high in steps of `step` (each with room of its own), y from 0 to `top`.
export function frame({ holder, height, low, high, step, top, showsShares = true, label }) {
  const width = Math.max(holder.clientWidth, 240);
  const root = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  // Text can be measured only where it is shown.
  holder.replaceChildren(root);
  const shares = showsShares ? ticks(0, top, 4) : [0];
  const left = showsShares ? Math.max(...shares.map((share) => widthOf(root, percent(share, top)))) + 12 : 6;
  const edges = { left, right: width - 8, top: 10, bottom: height - 24 };
  const x = (value) => edges.left + ((value - low + step / 2) / (high - low + step)) * (edges.right - edges.left);
  const y = (share) => edges.bottom - (Math.min(share, top) / top) * (edges.bottom - edges.top);
  for (const share of shares) {
    root.append(shape("line", { class: "grid", x1: edges.left, x2: edges.right, y1: y(share), y2: y(share) }));
    if (showsShares) root.append(shape("text", { x: edges.left - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share, top)));
  }
  const room = Math.max(...[low, high].map((value) => widthOf(root, whole.format(value)))) + LABEL_GAP;
  const named = ticks(low, high, (edges.right - edges.left) / room, step);
  const labels = writeApart(root, named, x, height - 6);
  if (labels.length < 2 && low < high) {
    for (const { text } of labels) text.remove();
    writeApart(root, [low, high], x, height - 6);
  }
  return { root, x, y, edges, slot: ((edges.right - edges.left) * step) / (high - low + step) };
}

// Labels of values below the axis, without those that would touch the one before.
function writeApart(root, values, x, y) {
  let end = -Infinity;
  return values.map((value) => write(root, whole.format(value), x(value), y)).filter(({ text, from, to }) => {
    const apart = from >= end + MIN_LABEL_GAP;
    if (apart) end = to;
    else text.remove();
    return apart;
  });
}

function widthOf(root, words) {
  const { text, from, to } = write(root, words, 0, 0);
  text.remove();
  return to - from;
}

// Words around x, moved as far as they must be to stay inside the chart, however wide the font is.
export function write(root, words, x, y, name = "") {
  const text = shape("text", { y, class: name, "text-anchor": "middle" }, words);
  root.append(text);
  const half = text.getComputedTextLength() / 2 + LABEL_MARGIN;
  const middle = Math.max(half, Math.min(x, root.width.baseVal.value - half));
  text.setAttribute("x", middle);
  return { text, from: middle - half, to: middle + half };
}

// One path for all bars: [middle, share] each, as wide as a slot, or as so `many` slots, from `low` on.
export function bars({ x, y, slot }, list, name) {
  const gap = slot > 4 ? Math.min(2, slot / 4) : 0;
  const parts = list.filter(([, share, , low = 0]) => share > low).map(([value, share, many = 1, low = 0]) => {
    const half = (slot * many - gap) / 2;
    return `M${fixed(x(value) - half)} ${fixed(y(low))}V${fixed(y(share))}H${fixed(x(value) + half)}V${fixed(y(low))}Z`;
  });
  return shape("path", { class: name, d: parts.join("") });
}

export const fixed = (number) => number.toFixed(2);
export const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 6, useGrouping: false });
export const count = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

// A share in per cent, with as many decimals as the scale asks for.
export function percent(share, scale = share) {
  const digits = scale >= 0.1 || scale === 0 ? 0 : Math.min(6, Math.ceil(-Math.log10(scale)));
  return `${(100 * share).toFixed(digits)}%`;
}

// Draws now, and again whenever the width changes.
export function redrawOnResize(holder, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (holder.clientWidth && holder.clientWidth !== width) draw((width = holder.clientWidth));
  }).observe(holder);
}
