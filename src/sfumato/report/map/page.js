// What the reader does, and what follows from it.

function ask(wanted) {
  Object.assign(state, wanted);
  rememberInAddress();
  refresh();
}

function choose(point) {
  if (point !== state.chosen) ask({ chosen: point });
}

function refresh() {
  gatherOrigins();
  showPanel();
  showCounts();
  showTip(NOWHERE);
  announce();
  repaint();
}

// The address holds the choice, so that it can be copied and the way back works.
function rememberInAddress() {
  const said = new URLSearchParams();
  if (state.chosen !== NOWHERE) said.set("to", points.names[state.chosen]);
  if (state.mode !== "synthetic") said.set("show", state.mode);
  if (String(said) !== location.hash.slice(1)) location.hash = said;
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  const point = points.number.get(said.get("to")) ?? NOWHERE;
  const mode = modes().includes(said.get("show")) ? said.get("show") : "synthetic";
  if (point === state.chosen && mode === state.mode) return;
  Object.assign(state, { chosen: point, mode });
  for (const radio of document.getElementsByName("mode")) radio.checked = radio.value === mode;
  refresh();
  if (point !== NOWHERE) bringIntoView(point);
}

const modes = () => (copies.original ? ["synthetic", "original", "difference"] : ["synthetic"]);

function offerModes() {
  const holder = element("modes");
  holder.hidden = modes().length === 1;
  for (const mode of holder.hidden ? [] : modes()) {
    const chosen = { checked: mode === state.mode && "", onchange: () => ask({ mode }) };
    const radio = make("input", { type: "radio", name: "mode", value: mode, ...chosen });
    holder.append(make("label", {}, radio, make("span", {}, NAMES[mode])));
  }
}

// 1, 2, 3, 5, 10, 20, 30, 50, … up to the largest there is.
function limitsUpTo(most) {
  const limits = [];
  for (let unit = 1; unit <= most; unit *= 10) limits.push(...[1, 2, 3, 5].map((step) => step * unit));
  return limits.filter((limit) => limit <= most);
}

function offerLimits(id, key, countsOf) {
  const slider = element(id), limits = limitsUpTo(Math.max(...Object.values(copies).map((flows) => largest(countsOf(flows)))));
  slider.max = limits.length - 1;
  slider.value = 0;
  slider.addEventListener("input", () => ask({ [key]: limits[slider.value] }));
}

function showCounts() {
  const flows = shownFlows();
  let destinations = 0, lines = 0;
  flows.destinations.forEach((point, run) => {
    if (!shows(point)) return;
    destinations++;
    for (let pair = flows.start[run]; pair < flows.start[run + 1]; pair++) {
      lines += flows.origins[pair] !== OUTSIDE && Math.abs(flows.counts[pair]) >= state.leastFlow;
    }
  });
  const all = flows.origins.reduce((sum, origin) => sum + (origin !== OUTSIDE), 0);
  const tell = (id, least, shown, of, what) => {
    element(id).setAttribute("aria-valuetext", `at least ${people(least)}`);
    element(`${id}-text`).textContent = whole.format(least);
    element(`${id}-count`).textContent = `${whole.format(shown)} of ${whole.format(of)} ${what}`;
  };
  tell("least-people", state.leastPeople, destinations, flows.destinations.length, "destinations");
  tell("least-flow", state.leastFlow, lines, all, isDifference() ? "differences" : "flows");
}

function fitCanvas() {
  const box = canvas.getBoundingClientRect();
  const isFirst = screen.width === 1;
  const isWhole = !isFirst && Math.abs(view.scale / wholeView().scale - 1) < 1e-6;
  Object.assign(screen, { width: Math.max(box.width, 2), height: Math.max(box.height, 2), ratio: window.devicePixelRatio || 1 });
  canvas.width = Math.round(screen.width * screen.ratio);
  canvas.height = Math.round(screen.height * screen.ratio);
  setView(isFirst || isWhole ? wholeView() : view);
  repaint();
}

function listenToPage() {
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    refresh();
  });
  window.addEventListener("hashchange", readAddress);
  for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") choose(NOWHERE);
  });
  new ResizeObserver(fitCanvas).observe(canvas);
}

readColours();
offerModes();
offerLimits("least-people", "leastPeople", (flows) => flows.people);
offerLimits("least-flow", "leastFlow", (flows) => flows.counts);
listenToGestures();
listenToSearch();
fitCanvas();
readAddress();
refresh();
listenToPage();

// For looking from outside, such as in tests: nothing here changes the page.
window.sfumatoMap = Object.freeze({
  project(name) {
    const point = points.number.get(name), box = canvas.getBoundingClientRect();
    if (point === undefined) return null;
    const [x, y] = toScreen(points.x[point], points.y[point]);
    return { x: x + box.left, y: y + box.top };
  },
  chosen: () => points.names[state.chosen] ?? null,
  mode: () => state.mode,
  isSettled,
});
