// Which part of the world is seen: the middle of the canvas, and pixels per unit of the flat map.

const canvas = element("map");
const view = { x: 0, y: 0, scale: 1 };
const screen = { width: 1, height: 1, ratio: 1 };
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const MARGIN = 28;
const MIN_SPAN = 2e-4; // A single point is shown with about a kilometre around it.
const CLOSEST = 4000;

const bounds = (() => {
  const seen = [points, ...shapes.filter((shape) => shape.point >= 0 || !points.count)];
  const extent = (axis) => {
    let low = Infinity, high = -Infinity;
    for (const part of seen) for (const value of part[axis]) [low, high] = [Math.min(low, value), Math.max(high, value)];
    return low <= high ? [low, high] : [0, 0];
  };
  const [left, right] = extent("x"), [top, bottom] = extent("y");
  return { left, right, top, bottom };
})();

function wholeView() {
  const across = Math.max(bounds.right - bounds.left, MIN_SPAN);
  const down = Math.max(bounds.bottom - bounds.top, MIN_SPAN);
  const scale = Math.min(Math.max(screen.width - 2 * MARGIN, 40) / across, Math.max(screen.height - 2 * MARGIN, 40) / down);
  return { x: (bounds.left + bounds.right) / 2, y: (bounds.top + bounds.bottom) / 2, scale };
}

const between = (low, value, high) => Math.max(low, Math.min(high, value));

function setView({ x, y, scale }) {
  const whole = wholeView().scale;
  view.scale = between(whole / 3, scale, whole * CLOSEST);
  view.x = between(bounds.left, x, bounds.right);
  view.y = between(bounds.top, y, bounds.bottom);
  redraw();
}

const toScreen = (x, y) => [(x - view.x) * view.scale + screen.width / 2, (y - view.y) * view.scale + screen.height / 2];
const toWorld = (left, top) => [(left - screen.width / 2) / view.scale + view.x, (top - screen.height / 2) / view.scale + view.y];

const pan = (dx, dy, from = view) => ({ x: from.x - dx / from.scale, y: from.y - dy / from.scale, scale: from.scale });

// The world under the given spot stays under it.
function zoom(factor, left = screen.width / 2, top = screen.height / 2, from = view) {
  const whole = wholeView().scale;
  const scale = between(whole / 3, from.scale * factor, whole * CLOSEST);
  const shift = 1 / from.scale - 1 / scale;
  return { x: from.x + (left - screen.width / 2) * shift, y: from.y + (top - screen.height / 2) * shift, scale };
}

let flight = 0;
let destined = null; // Where a flight will end, so that quick presses of a button add up.
const aim = () => destined ?? view;

function stay() {
  cancelAnimationFrame(flight);
  destined = null;
}

function moveTo(target) {
  stay();
  if (calm.matches) return setView(target);
  const from = { ...view }, began = performance.now(), lasts = 220;
  destined = target;
  const step = (now) => {
    const t = between(0, (now - began) / lasts, 1);
    const eased = 1 - (1 - t) ** 3;
    const scale = from.scale * (target.scale / from.scale) ** eased;
    // Moving the middle in step with the scale keeps the fixed point of a zoom fixed.
    const part = target.scale === from.scale ? eased : (1 / from.scale - 1 / scale) / (1 / from.scale - 1 / target.scale);
    if (t < 1) flight = requestAnimationFrame(step);
    else destined = null;
    setView({ x: from.x + (target.x - from.x) * part, y: from.y + (target.y - from.y) * part, scale });
  };
  flight = requestAnimationFrame(step);
}

function bringIntoView(point) {
  const [left, top] = toScreen(points.x[point], points.y[point]);
  const seen = left > MARGIN && left < screen.width - MARGIN && top > MARGIN && top < screen.height - MARGIN;
  if (!seen) moveTo({ x: points.x[point], y: points.y[point], scale: view.scale });
}

const pointers = new Map();
const TREMBLE = 5; // A press that moves less than this many pixels is a click.
let press = null;

function local(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function spread() {
  const [[x0, y0], [x1, y1]] = [...pointers.values()];
  return { left: (x0 + x1) / 2, top: (y0 + y1) / 2, gap: Math.max(Math.hypot(x1 - x0, y1 - y0), 1) };
}

function onPress(event) {
  if (event.button !== 0) return;
  stay();
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, local(event));
  press = pointers.size === 1 ? { at: local(event), moved: false } : { ...press, moved: true };
}

function onMove(event) {
  if (!pointers.has(event.pointerId)) return hover(...local(event));
  const now = local(event), before = pointers.get(event.pointerId);
  if (pointers.size === 1) {
    press.moved ||= Math.hypot(now[0] - press.at[0], now[1] - press.at[1]) > TREMBLE;
    pointers.set(event.pointerId, now);
    if (press.moved) setView(pan(now[0] - before[0], now[1] - before[1]));
  } else if (pointers.size === 2) {
    const was = spread();
    pointers.set(event.pointerId, now);
    const is = spread();
    setView(pan(is.left - was.left, is.top - was.top, zoom(is.gap / was.gap, was.left, was.top)));
  }
  canvas.classList.toggle("held", press.moved);
}

function onRelease(event) {
  if (!pointers.delete(event.pointerId)) return;
  canvas.classList.remove("held");
  redraw();
  if (event.type === "pointerup" && !pointers.size && !press.moved) onClick(...local(event), event.pointerType);
}

let isRolling = false, rest = 0;
const ROLLING = 140; // Milliseconds after a turn of the wheel in which the next is expected.

function onWheel(event) {
  event.preventDefault();
  stay();
  isRolling = true;
  clearTimeout(rest);
  rest = setTimeout(() => {
    isRolling = false;
    redraw();
  }, ROLLING);
  const lines = event.deltaMode === 1 ? 20 : 1;
  const speed = event.ctrlKey ? 0.01 : 0.0018; // A pinch on a touchpad arrives as a slow wheel with ctrl.
  setView(zoom(Math.exp(-between(-300, event.deltaY * lines, 300) * speed), ...local(event)));
}

const STEP = 80;
const panStep = (dx, dy) => () => moveTo(pan(dx, dy, aim()));
const zoomStep = (factor) => () => moveTo(zoom(factor, undefined, undefined, aim()));
const zoomIn = zoomStep(2), zoomOut = zoomStep(0.5), showAll = () => moveTo(wholeView());
const KEYS = {
  ArrowLeft: panStep(STEP, 0), ArrowRight: panStep(-STEP, 0), ArrowUp: panStep(0, STEP), ArrowDown: panStep(0, -STEP),
  "+": zoomIn, "=": zoomIn, "-": zoomOut, _: zoomOut, 0: showAll,
};

function listenToGestures() {
  canvas.addEventListener("pointerdown", onPress);
  canvas.addEventListener("pointermove", onMove);
  canvas.addEventListener("pointerup", onRelease);
  canvas.addEventListener("pointercancel", onRelease);
  canvas.addEventListener("pointerleave", () => hover(-1, -1));
  canvas.addEventListener("wheel", onWheel, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? null : KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  element("zoom-in").addEventListener("click", zoomIn);
  element("zoom-out").addEventListener("click", zoomOut);
  element("fit").addEventListener("click", showAll);
}
