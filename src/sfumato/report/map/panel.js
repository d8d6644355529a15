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
  const places = point === NOWHERE
    ? ["Destinations", (one) => one.destinations, whole.format, change, "destinations"]
    : ["Origins", (one) => one.origins, whole.format, change, "origins"];
  return [
    ["People", (one) => one.people, whole.format, change, "people"],
    places,
    ["Average distance", (one) => one.mean, far, miles, "mean"],
    [make("label", {}, "From within ", reach), (one) => one.share, share, points, "share"],
  ];
}

const columns = () => (state.mode === "difference" ? ["synthetic", "original", "difference"] : [state.mode]);

function figureTable(point) {
  const figures = Object.fromEntries(Object.entries(copies).map(([name, flows]) => [name, figuresOf(flows, point)]));
  const table = make("table", { class: "figures" }, make("caption", { class: "spoken" }, "Figures"));
  if (columns().length > 1) {
    const headings = columns().map((name) => make("th", { scope: "col" }, NAMES[name]));
    table.append(make("thead", {}, make("tr", {}, make("td"), ...headings)));
  }
  const body = table.appendChild(make("tbody"));
  for (const [name, value, text, differs, key] of figureLines(point)) {
    const cell = (column) => {
      if (column !== "difference") return text(value(figures[column]));
      const gap = value(figures.synthetic) - value(figures.original);
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

function rankedTable(caption, headings, rows, line) {
  const body = make("tbody");
  const table = make("table", { class: "ranked" }, make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...headings.map((text) => make("th", { scope: "col" }, text)))), body);
  const more = make("button", { type: "button", class: "extend" });
  let shown = 0;
  const extend = (count) => {
    body.append(...rows.slice(shown, shown + count).map(line));
    shown = Math.min(rows.length, shown + count);
    more.textContent = `Show ${whole.format(Math.min(MORE_ROWS, rows.length - shown))} more of ${whole.format(rows.length)}`;
    more.hidden = shown === rows.length;
  };
  more.addEventListener("click", () => extend(MORE_ROWS));
  extend(ROWS_AT_FIRST);
  return [table, more];
}

function comparison(rows, what, first) {
  rows.sort((one, other) => Math.abs(other.a - other.b) - Math.abs(one.a - one.b) || other.a - one.a || one.point - other.point);
  const most = Math.max(1, ...rows.slice(0, 1).map(({ a, b }) => Math.abs(a - b)));
  const headings = [what, "Synth.", "Orig.", "Diff."];
  return [headings, rows, ({ point, a, b }) => make("tr", { "data-id": points.names[point] ?? "outside" },
    make("th", { scope: "row" }, ...first(point)), make("td", {}, whole.format(a)), make("td", {}, whole.format(b)),
    bar(change(a - b), Math.abs(a - b) / most, a > b ? "more" : "fewer"))];
}

function originTable() {
  const point = state.chosen, rows = [];
  if (state.mode === "difference") {
    eachPair(copies.synthetic, copies.original, point, (origin, a, b) => rows.push({ point: origin, a, b }));
    return rankedTable("Origins, by difference", ...comparison(rows, "Origin", nameOf));
  }
  const flows = copies[state.mode], total = peopleAt(flows, point);
  const [first, end] = pairsOf(flows, point);
  for (let pair = first; pair < end; pair++) rows.push({ point: flows.origins[pair], count: flows.counts[pair] });
  rows.sort((one, other) => other.count - one.count || one.point - other.point);
  return rankedTable("Origins", ["Origin", "People", "Share", "Distance"], rows, ({ point: origin, count }) =>
    make("tr", { "data-id": points.names[origin] ?? "outside" }, make("th", { scope: "row" }, ...nameOf(origin)),
      bar(whole.format(count), count / rows[0].count), make("td", {}, share(count / total)),
      make("td", {}, origin === OUTSIDE ? "–" : far(distance(origin, point)))));
}

function destinationTable() {
  const link = (point) => [make("button", { type: "button", class: "link", onclick: () => choose(point) }, ...nameOf(point))];
  const all = Array.from(flowsOf(state.mode).destinations).filter(shows);
  if (state.mode === "difference") {
    const rows = all.map((point) => ({ point, a: peopleAt(copies.synthetic, point), b: peopleAt(copies.original, point) }));
    return rankedTable("Destinations, by difference", ...comparison(rows, "Destination", link));
  }
  const flows = copies[state.mode];
  const rows = all.map((point) => ({ point, count: peopleAt(flows, point) }));
  rows.sort((one, other) => other.count - one.count || one.point - other.point);
  return rankedTable("Largest destinations", ["Destination", "People", "Average"], rows, ({ point, count }) => {
    const run = flows.run[point];
    return make("tr", { "data-id": points.names[point] }, make("th", { scope: "row" }, ...link(point)),
      bar(whole.format(count), count / rows[0].count), make("td", {}, far(flows.distance[run] / flows.known[run])));
  });
}

function showPanel() {
  const point = state.chosen;
  const panel = element("panel");
  const hadFocus = panel.contains(document.activeElement);
  panel.dataset.chosen = points.names[point] ?? "";
  if (point === NOWHERE) {
    panel.replaceChildren(make("h2", { tabindex: -1 }, "All destinations"), ...figureTable(point), ...destinationTable());
  } else showDestination(panel, point);
  // What had the focus is gone; the keyboard goes on from the heading.
  if (hadFocus) panel.querySelector("h2").focus();
}

function showDestination(panel, point) {
  const clear = make("button", { type: "button", id: "clear", onclick: () => choose(NOWHERE) }, "All destinations");
  const kind = given.kind === "place" ? "Destination" : `Destination (${given.kind})`;
  const heading = make("h2", { tabindex: -1 }, make("small", {}, kind), points.names[point]);
  if (points.areas[point]) heading.append(make("small", {}, points.areas[point]));
  const head = make("div", { class: "head" }, heading, clear);
  const isEmpty = !goesSomewhere(point);
  const nobody = make("p", {}, `Nobody goes here in the ${state.mode} data.`);
  panel.replaceChildren(head, ...(isEmpty ? [nobody] : [...figureTable(point), ...originTable()]));
  panel.scrollTop = 0;
}

function announce() {
  const size = state.chosen === NOWHERE ? "" : people(sizeOf(state.mode, state.chosen));
  element("status").textContent = size ? `${points.names[state.chosen]}: ${size}, ${state.mode}` : "All destinations";
}

function showTip(point, left, top) {
  const tip = element("tip");
  tip.hidden = point === NOWHERE;
  if (tip.hidden) return;
  const flows = flowsOf(state.mode);
  const count = (value) => (state.mode === "difference" ? `${change(value)} people` : people(value));
  const lines = [`${count(peopleAt(flows, point))} to here`];
  const known = origins.find((one) => one.point === point);
  if (known) lines.unshift(`${count(known.people)} from here to ${points.names[state.chosen]}`);
  tip.replaceChildren(make("strong", {}, ...nameOf(point)), ...lines.map((text) => make("div", {}, text)));
  const room = screen.width - tip.offsetWidth - 8;
  tip.style.left = `${between(4, left + 16, Math.max(room, 4))}px`;
  tip.style.top = `${top + 20 + tip.offsetHeight > screen.height ? top - tip.offsetHeight - 12 : top + 20}px`;
}
