// The chart for any pair of measures, and the table. Which releases are efficient is read from the document.
const all = (selector) => [...document.querySelectorAll(selector)];
const frontier = read("frontier");
const parts = read("chart-parts");
const narrow = 640;
const heightFor = (width) => (width < narrow ? 320 : 460);
// What the legend and the numbers of an axis leave.
const plotWidth = (width) => width - (width < narrow ? 60 : 260);

const pair = () => ({ x: element("privacy").value, y: element("utility").value });
const efficientIds = ({ x, y }) => new Set(frontier.efficient[`${x}|${y}`] ?? []);

// How far along an axis a value stands, from 0 to 1. A log scale is linear up to a constant, so that it has room for zero.
function shareOf(axis, value, log) {
  const place = (number) => (log ? Math.sign(number) * Math.log1p(Math.abs(number) / axis.constant) : number);
  const [low, high] = axis.domain.map(place);
  return (place(value) - low) / (high - low);
}

const isLog = (axis) => element(`log-${axis}`).checked;

function pairRows(chosen) {
  const efficient = efficientIds(chosen);
  return frontier.trials.flatMap((trial, i) => {
    const row = { ...parts.rows[i], efficient: efficient.has(trial.id) };
    for (const axis of ["x", "y"]) {
      const value = trial.measures[chosen[axis]] ?? null;
      if (value === null) return [];
      const [first, last] = parts.axes[chosen[axis]].domain;
      const ends = trial.intervals?.[chosen[axis]]?.map((end) => Math.min(Math.max(end, first), last));
      const [low, high] = ends ?? [null, null];
      const share = shareOf(parts.axes[chosen[axis]], value, isLog(axis));
      Object.assign(row, { [axis]: value, [`${axis}_low`]: low, [`${axis}_high`]: high, [`${axis}_share`]: share });
    }
    return [row];
  });
}

function referenceMarks(axis, log) {
  const [low, high] = axis.domain;
  return axis.scale
    .filter((mark) => low <= mark.value && mark.value <= high)
    .map((mark) => ({ ...mark, share: shareOf(axis, mark.value, log) }))
    .map((mark) => ({ ...mark, late: mark.share > 1 / 2 }));
}

const noMarks = { x: [], y: [] };
const onBoth = (about) => ({ x: about("x"), y: about("y") });
const marksOf = (chosen) => onBoth((axis) => referenceMarks(parts.axes[chosen[axis]], isLog(axis)));
const lowerOf = (chosen) => onBoth((axis) => parts.axes[chosen[axis]].lower);

function specFor(chosen, width) {
  const spec = structuredClone(parts.spec);
  const rows = pairRows(chosen);
  const marks = marksOf(chosen), lower = lowerOf(chosen);
  const labels = curveLabels(rows, [plotWidth(width), heightFor(width)], width < narrow ? noMarks : marks, lower);
  spec.datasets = { trials: rows, x_marks: marks.x, y_marks: marks.y, labels };
  for (const axis of ["x", "y"]) {
    const about = parts.axes[chosen[axis]], log = isLog(axis);
    const scale = log ? { type: "symlog", constant: about.constant } : {};
    spec.params.find((param) => param.name === `${axis}_lower`).value = about.lower;
    for (const channel of spec.layer.map((layer) => layer.encoding[axis]).filter((one) => one?.field)) {
      const { values, ...plain } = channel.axis;
      channel.title = width < narrow ? about.short : about.title;
      channel.axis = { ...plain, format: about.format, ...(log ? { values: about.ticks } : {}) };
      channel.scale = { domain: about.domain, zero: false, nice: false, ...scale };
    }
  }
  const points = spec.layer.find((layer) => layer.name === "trials");
  const words = points.encoding.tooltip.filter((line) => !line.field.startsWith("text."));
  const measures = new Set([chosen.x, chosen.y, ...parts.main]);
  const figures = [...measures].map((name) => ({ field: `text.${name}`, title: parts.axes[name].short, type: "nominal" }));
  points.encoding.tooltip = [...words, ...figures];
  return fitTo(spec, width);
}

function fitTo(spec, width) {
  const small = width < narrow;
  if (small) {
    const layout = { bottom: { direction: "vertical", anchor: "start" } };
    Object.assign(spec.config.legend, { orient: "bottom", columns: 2, layout });
    spec.layer = spec.layer.filter((layer) => !layer.name.endsWith("_meanings"));
    for (const row of spec.datasets.trials) if (row.recommended) row.note = "Recommended";
  }
  return { ...spec, height: heightFor(width), padding: small ? 2 : 8 };
}

// One at a time, in the order they were asked for.
let drawing = Promise.resolve();
function drawChart() {
  drawing = drawing.then(() => {
    const chosen = pair();
    return drawInto(element("chart"), `${chosen.x}|${chosen.y}`, (width) => specFor(chosen, width), openRow);
  });
  for (const holder of all("[data-family]")) {
    drawing = drawing.then(() => drawInto(holder, holder.dataset.family, (width) => familySpec(holder.dataset.family, pair(), width)));
  }
}

// A click on a mark opens its row.
function openRow(id) {
  const line = lines.find((one) => one.dataset.trial === id);
  if (!line) return;
  for (const other of lines) other.classList.toggle("opened", other === line);
  line.hidden = false;
  line.scrollIntoView({ block: "center", behavior: "smooth" });
  line.focus({ preventScroll: true });
}

function describe() {
  const chosen = pair();
  const texts = new Map(parts.rows.map((row) => [row.id, row.text]));
  for (const axis of ["x", "y"]) {
    for (const span of all(`[data-name="${axis}"]`)) span.textContent = parts.axes[chosen[axis]].short;
    for (const span of all(`[data-text="${axis}"]`)) {
      span.textContent = texts.get(span.closest("[data-trial]").dataset.trial)[chosen[axis]];
    }
  }
  const counts = { shown: pairRows(chosen).length, efficient: efficientIds(chosen).size };
  for (const span of all("[data-fill]")) span.textContent = counts[span.dataset.fill];
}

const table = element("trials");
const lines = [...table.tBodies[0].rows];

function markEfficient() {
  const efficient = efficientIds(pair());
  for (const line of lines) {
    const is = efficient.has(line.dataset.trial);
    const flag = line.querySelector(".flag");
    line.classList.toggle("efficient", is);
    flag.dataset.value = is ? "0" : "1";
    flag.querySelector(".spoken").textContent = is ? "yes" : "no";
  }
}

function showColumns() {
  const { x, y } = pair();
  const wanted = new Set([...parts.main, x, y]);
  const everything = element("all-measures").checked;
  for (const cell of table.querySelectorAll("[data-measure]")) {
    cell.hidden = !everything && !wanted.has(cell.dataset.measure);
  }
}

function filterRows() {
  const words = element("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const onlyEfficient = element("only-efficient").checked;
  for (const line of lines) {
    const found = words.every((word) => line.dataset.find.includes(word));
    line.hidden = !found || (onlyEfficient && !line.classList.contains("efficient"));
  }
  element("count").textContent = `${lines.filter((line) => !line.hidden).length} of ${lines.length} releases`;
}

// Cells without a value come last in both directions.
function sortRows(heading) {
  const column = heading.cellIndex;
  const sign = heading.ariaSort === "ascending" ? -1 : 1;
  const numeric = heading.classList.contains("number");
  const key = (line) => line.cells[column].dataset.value;
  const compare = (a, b) => (numeric ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  for (const other of table.tHead.rows[0].cells) other.ariaSort = "none";
  heading.ariaSort = sign === 1 ? "ascending" : "descending";
  lines.sort((a, b) => {
    const [one, two] = [key(a), key(b)];
    if (one === "" || two === "") return (one === "") - (two === "");
    return sign * compare(one, two);
  });
  table.tBodies[0].append(...lines);
}

function changePair() {
  const chosen = pair();
  for (const axis of ["x", "y"]) element(`log-${axis}`).checked = parts.axes[chosen[axis]].skewed;
  describe();
  markEfficient();
  showColumns();
  filterRows();
  drawChart();
}

for (const form of all("form")) form.addEventListener("submit", (event) => event.preventDefault());
for (const id of ["privacy", "utility"]) element(id).addEventListener("change", changePair);
for (const id of ["log-x", "log-y"]) element(id).addEventListener("change", drawChart);
element("all-measures").addEventListener("change", showColumns);
element("find").addEventListener("input", filterRows);
element("only-efficient").addEventListener("change", filterRows);
for (const button of table.querySelectorAll("thead button")) {
  button.addEventListener("click", () => sortRows(button.closest("th")));
}
// A sheet of paper, so that letters are not shrunk with a wide screen.
followWidth(element("chart"), narrow, 700, drawChart);
followTheme(drawChart);
changePair();
