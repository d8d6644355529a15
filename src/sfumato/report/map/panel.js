// Words and figures beside the map: the panel, and the tip under the mouse.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat("en", { notation: "compact" });
const ROWS_AT_FIRST = 10, MORE_ROWS = 100;
const NAMES = { synthetic: "Synthetic", original: "Original", difference: "Difference" };

const signed = (text, value) => (value > 0 ? `+${text}` : value < 0 ? `−${text}` : "0");
const people = (count) => `${whole.format(count)} ${count === 1 ? "person" : "people"}`;
const change = (value) => signed(whole.format(Math.abs(value)), value);
const share = (part) => (Number.isFinite(part) ? `${tenth.format(100 * part)}%` : "–");
const far = (value) => (Number.isFinite(value) ? `${tenth.format(value)} ${given.unit}` : "–");

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// People, distance and nearness of one destination, or of all together.
function figuresOf(flows, point) {
  const runs = point === NOWHERE ? flows.destinations.keys() : flows.run[point] < 0 ? [] : [flows.run[point]];
  const sum = { people: 0, destinations: 0, origins: 0, known: 0, distance: 0, near: 0 };
  for (const run of runs) {
    sum.people += flows.people[run];
    sum.destinations++;
    sum.origins += flows.start[run + 1] - flows.start[run];
    sum.known += flows.known[run];
    sum.distance += flows.distance[run];
    sum.near += flows.near[run * given.reaches.length + state.reach];
  }
  return { ...sum, mean: sum.distance / sum.known, share: sum.near / sum.known };
}

// A row of the table each: name, figure, and how the figure and a difference of it are written.
function figureLines(point) {
  const reach = make("select", { id: "reach", "aria-label": `Within how many ${given.unit}` });
  given.reaches.forEach((value, i) => reach.append(new Option(`${value} ${given.unit}`, i, false, i === state.reach)));
  reach.addEventListener("change", () => {
    state.reach = Number(reach.value);
    showPanel();
    element("reach").focus();
  });
  const points = (value) => `${signed(tenth.format(Math.abs(100 * value)), value)} points`;
  const miles = (value) => `${signed(tenth.format(Math.abs(value)), value)} ${given.unit}`;
  const ends = point === NOWHERE ? ["Destinations", "destinations"] : ["Origins", "origins"];
  return [
    ["People", "people", whole.format, change],
    [...ends, whole.format, change],
    ["Average distance", "mean", far, miles],
    [make("label", {}, "From within ", reach), "share", share, points],
  ];
}

const columns = () => (isDifference() ? ["synthetic", "original", "difference"] : [state.mode]);

function figureTable(point) {
  const figures = Object.fromEntries(Object.entries(copies).map(([name, flows]) => [name, figuresOf(flows, point)]));
  const table = make("table", { class: "figures" }, make("caption", { class: "spoken" }, "Figures"));
  if (columns().length > 1) {
    const headings = columns().map((name) => make("th", { scope: "col" }, NAMES[name]));
    table.append(make("thead", {}, make("tr", {}, make("td"), ...headings)));
  }
  const body = table.appendChild(make("tbody"));
  for (const [name, key, text, differs] of figureLines(point)) {
    const cell = (column) => {
      if (column !== "difference") return text(figures[column][key]);
      const gap = figures.synthetic[key] - figures.original[key];
      return Number.isFinite(gap) ? differs(gap) : "–";
    };
    const cells = columns().map((column) => make("td", { "data-figure": `${key}-${column}` }, cell(column)));
    body.append(make("tr", {}, make("th", { scope: "row" }, name), ...cells));
  }
  const outside = columns().some((name) => figures[name] && figures[name].known < figures[name].people);
  return outside ? [table, make("p", { class: "note" }, "Distances leave out people from outside.")] : [table];
}

function nameOf(point) {
  if (point === OUTSIDE) return [make("em", {}, "outside"), make("small", {}, "beyond the map")];
  return points.areas[point] ? [points.names[point], make("small", {}, points.areas[point])] : [points.names[point]];
}

// A bar behind the number, so that sizes are seen before they are read.
function bar(text, part, kind = "people") {
  const cell = make("td", { class: `bar ${kind}` }, make("span", {}, text));
  cell.style.setProperty("--part", `${(100 * part).toFixed(2)}%`);
  return cell;
}

// The largest rows { point, a, b } first: with a difference both numbers and their gap, else one and what `rest` adds.
function rankedTable(rows, { caption, what, headings, name, rest }) {
  const gap = ({ a, b }) => (isDifference() ? Math.abs(a - b) : a);
  rows.sort((one, other) => gap(other) - gap(one) || other.a - one.a || one.point - other.point);
  const most = Math.max(1, ...rows.slice(0, 1).map(gap));
  const cells = (row) => {
    const { a, b } = row, texts = isDifference() ? [whole.format(a), whole.format(b)] : rest(row);
    const others = texts.map((text) => make("td", {}, text));
    if (!isDifference()) return [bar(whole.format(a), a / most), ...others];
    return [...others, bar(change(a - b), gap(row) / most, a > b ? "more" : "fewer")];
  };
  const titles = [what, ...(isDifference() ? ["Synth.", "Orig.", "Diff."] : ["People", ...headings])];
  const body = make("tbody");
  const table = make("table", { class: "ranked" }, make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...titles.map((text) => make("th", { scope: "col" }, text)))), body);
  const more = make("button", { type: "button", class: "extend", onclick: () => extend(MORE_ROWS) });
  let shown = 0;
  const extend = (count) => {
    body.append(...rows.slice(shown, shown + count).map((row) => make("tr", { "data-id": points.names[row.point] ?? "outside" },
      make("th", { scope: "row" }, ...name(row.point)), ...cells(row))));
    shown = Math.min(rows.length, shown + count);
    more.textContent = `Show ${whole.format(Math.min(MORE_ROWS, rows.length - shown))} more of ${whole.format(rows.length)}`;
    more.hidden = shown === rows.length;
  };
  extend(ROWS_AT_FIRST);
  return [table, more];
}

function originTable(point) {
  const rows = [], [ours, theirs] = sides(), total = peopleAt(ours, point);
  eachPair(ours, theirs, point, (origin, a, b) => rows.push({ point: origin, a, b }));
  return rankedTable(rows, {
    caption: isDifference() ? "Origins, by difference" : "Origins",
    what: "Origin", headings: ["Share", "Distance"], name: nameOf,
    rest: (row) => [share(row.a / total), row.point === OUTSIDE ? "–" : far(distance(row.point, point))],
  });
}

function destinationTable() {
  const [ours, theirs] = sides();
  const rows = Array.from(shownFlows().destinations).filter(shows)
    .map((point) => ({ point, a: peopleAt(ours, point), b: peopleAt(theirs, point) }));
  return rankedTable(rows, {
    caption: isDifference() ? "Destinations, by difference" : "Largest destinations",
    what: "Destination", headings: ["Average"],
    name: (point) => [make("button", { type: "button", class: "link", onclick: () => choose(point) }, ...nameOf(point))],
    rest: ({ point }) => [far(figuresOf(ours, point).mean)],
  });
}

function showPanel() {
  const panel = element("panel"), point = state.chosen;
  const hadFocus = panel.contains(document.activeElement);
  panel.dataset.chosen = points.names[point] ?? "";
  panel.replaceChildren(...(point === NOWHERE ? describeAll() : describeDestination(point)));
  if (point !== NOWHERE) panel.scrollTop = 0;
  // What had the focus is gone; the keyboard goes on from the heading.
  if (hadFocus) panel.querySelector("h2").focus();
}

const describeAll = () => [make("h2", { tabindex: -1 }, "All destinations"), ...figureTable(NOWHERE), ...destinationTable()];

function describeDestination(point) {
  const clear = make("button", { type: "button", id: "clear", onclick: () => choose(NOWHERE) }, "All destinations");
  const kind = given.kind === "place" ? "Destination" : `Destination (${given.kind})`;
  const head = make("div", { class: "head" }, make("h2", { tabindex: -1 }, make("small", {}, kind), ...nameOf(point)), clear);
  if (!goesSomewhere(point)) return [head, make("p", {}, `Nobody goes here in the ${state.mode} data.`)];
  return [head, ...figureTable(point), ...originTable(point)];
}

function announce() {
  const size = state.chosen === NOWHERE ? "" : people(sizeOf(state.chosen));
  element("status").textContent = size ? `${points.names[state.chosen]}: ${size}, ${state.mode}` : "All destinations";
}

function showTip(point, left, top) {
  const tip = element("tip");
  tip.hidden = point === NOWHERE;
  if (tip.hidden) return;
  const count = (value) => (isDifference() ? `${change(value)} people` : people(value));
  const lines = [`${count(peopleAt(shownFlows(), point))} to here`];
  if (originAt.has(point)) lines.unshift(`${count(originAt.get(point).people)} from here to ${points.names[state.chosen]}`);
  tip.replaceChildren(make("strong", {}, ...nameOf(point)), ...lines.map((text) => make("div", {}, text)));
  const room = screen.width - tip.offsetWidth - 8;
  tip.style.left = `${between(4, left + 16, Math.max(room, 4))}px`;
  tip.style.top = `${top + 20 + tip.offsetHeight > screen.height ? top - tip.offsetHeight - 12 : top + 20}px`;
}
