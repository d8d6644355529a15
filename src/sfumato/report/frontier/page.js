// The chart for any pair of measures, and the table. Which releases are efficient is read from the document.
const all = (selector) => [...document.querySelectorAll(selector)];
const frontier = read("frontier");
const parts = read("chart-parts");
const narrow = 640;

const pair = () => ({ x: element("privacy").value, y: element("utility").value });
const efficientIds = ({ x, y }) => new Set(frontier.efficient[`${x}|${y}`] ?? []);

function pairRows({ x, y }) {
  const efficient = efficientIds({ x, y });
  return frontier.trials.flatMap((trial, i) => {
    const place = { x: trial.measures[x] ?? null, y: trial.measures[y] ?? null };
    if (place.x === null || place.y === null) return [];
    const [x_low, x_high] = trial.intervals?.[x] ?? [null, null];
    const [y_low, y_high] = trial.intervals?.[y] ?? [null, null];
    return [{ ...parts.rows[i], ...place, x_low, x_high, y_low, y_high, efficient: efficient.has(trial.id) }];
  });
}

function extent(rows, axis) {
  const values = rows.flatMap((row) => [row[axis], row[`${axis}_low`], row[`${axis}_high`]]).filter((one) => one !== null);
  const low = Math.min(...values), high = Math.max(...values);
  return low < high ? [low, high] : values.length ? [low - 0.5, low + 0.5] : [-0.5, 0.5];
}

function marksWithin(scale, [low, high]) {
  return scale
    .filter((mark) => low <= mark.value && mark.value <= high)
    .map((mark) => ({ ...mark, late: mark.value > (low + high) / 2 }));
}

// A logarithm that also has room for zero: linear below the smallest value that is not zero.
function logScale(values) {
  const sizes = values.map(Math.abs).filter((size) => size > 0);
  if (!sizes.length) return {};
  const smallest = Math.min(...sizes), largest = Math.max(...sizes);
  const ticks = values.includes(0) ? [0] : [];
  for (let power = Math.floor(Math.log10(smallest)); 10 ** power <= largest * 1.0001; power++) {
    ticks.push(...[1, 2, 5].map((step) => step * 10 ** power).filter((tick) => tick >= smallest && tick <= largest));
  }
  const signed = Math.min(...values) < 0 ? [...ticks.map((tick) => -tick), ...ticks] : ticks;
  return { scale: { type: "symlog", constant: smallest, nice: false }, axis: { values: signed, labelOverlap: "greedy" } };
}

function specFor(chosen, width) {
  const spec = structuredClone(parts.spec);
  const rows = pairRows(chosen);
  spec.datasets = { trials: rows };
  for (const axis of ["x", "y"]) {
    const about = parts.axes[chosen[axis]];
    const domain = extent(rows, axis);
    const changes = element(`log-${axis}`).checked ? logScale(rows.map((row) => row[axis])) : {};
    spec.datasets[`${axis}_marks`] = marksWithin(about.scale, domain);
    spec.params.find((param) => param.name === `${axis}_lower`).value = about.lower;
    for (const channel of spec.layer.map((layer) => layer.encoding[axis]).filter((one) => one?.field)) {
      channel.title = width < narrow ? about.short : about.title;
      channel.axis = { ...channel.axis, format: about.format, ...changes.axis };
      channel.scale = { ...channel.scale, domain, ...changes.scale };
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
  return { ...spec, height: small ? 320 : 460, padding: small ? 2 : 8 };
}

// One at a time, in the order they were asked for.
let drawing = Promise.resolve();
function drawChart() {
  drawing = drawing.then(() => {
    const chosen = pair();
    return drawInto(element("chart"), `${chosen.x}|${chosen.y}`, (width) => specFor(chosen, width));
  });
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
changePair();
