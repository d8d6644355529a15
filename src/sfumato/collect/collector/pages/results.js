// A results document as figures, charts, a table and a file.

import { count, fixed, frame, bars, make, percent, redrawOnResize, shape, whole } from "./chart.js";
import { element, spellEpsilon } from "./page.js";

const HEIGHT = 260;
const MAX_ROWS = 2000;
const MAX_WHISKER = 5;
// Where bars are narrower than this, lines would hide them; intervals are then pale columns behind.
const MIN_SLOT_FOR_LINES = 7;
// Intervals much longer than the bars would squeeze these flat; they are cut off at this multiple of the longest bar.
const MAX_ABOVE_BARS = 3;

let results = null;
let scale = null;
const charts = {};

export function showResults(document, survey) {
  const first = results === null;
  results = document;
  const values = results.cells.map(({ value }) => value);
  scale = { low: values[0], high: values.at(-1), step: survey.step };
  element("results").hidden = false;
  showFigures();
  showTrust(survey);
  showTable();
  if (!first) return draw();
  redrawOnResize(element("shares"), draw);
  element("download").addEventListener("click", download);
  for (const id of ["shares", "cdf"]) {
    element(id).addEventListener("pointermove", (event) => point(event, id));
    element(id).addEventListener("pointerleave", () => point(null, id));
  }
}

// As many decimals as the interval is sure of, and one more.
function roundToInterval({ value, low, high }) {
  const width = high - low;
  const digits = width > 0 ? Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(width)))) : 2;
  return [value, low, high].map((one) => one.toFixed(digits));
}

const confidence = () => `with ${percent(results.confidence)} confidence`;

function showFigures() {
  const [mean, low, high] = roundToInterval(results.mean);
  element("mean").textContent = mean;
  element("mean-interval").textContent = `${low} to ${high}`;
  results.quantiles.forEach((quantile, i) => {
    element(`quartile-${i + 1}`).textContent = whole.format(quantile.value);
    element(`quartile-${i + 1}-interval`).textContent = `${whole.format(quantile.low)} to ${whole.format(quantile.high)}`;
  });
}

function showTrust(survey) {
  const { reached, gap, fits, one_report_moves: moves } = results;
  element("misfit").hidden = fits !== false;
  const missing = gap === null ? "an unknown amount" : `at most ${Number(gap).toExponential(0)}`;
  element("certificate").classList.toggle("warning", !reached);
  element("certificate").textContent = reached
    ? `This is the likeliest distribution: its certificate was reached (${missing} of log likelihood per report is left to gain).`
    : `The solver stopped before its certificate was reached (${missing} of log likelihood per report is left to gain): do not rely on these figures.`;
  element("forged").hidden = moves === null;
  if (moves !== null) element("forged").textContent = forgedWeight(moves, results.reports);
  element("promise").textContent =
    `Noise with ${spellEpsilon(survey)} ${fits === false ? "should have been" : "was"} added before reports left people’s devices. Each interval holds ${confidence()}, noise and the choice of people included.`;
}

function forgedWeight(moves, reports) {
  const people = moves < 10 ? String(Number(moves.toPrecision(2))) : count.format(moves);
  return `One forged report can weigh as much as ${people} ${people === "1" ? "person" : "people"} in a single answer ` +
    `of the unbiased estimate: ${percent(moves / reports, 0.05)} of the ${count.format(reports)} reports so far.`;
}

function showTable() {
  const hundredths = (share) => (100 * share).toFixed(2);
  const interval = ({ low, high }) => `${hundredths(low)} – ${hundredths(high)}`;
  const rows = results.cells.slice(0, MAX_ROWS).map((cell, i) => make("tr", {},
    make("th", { scope: "row" }, whole.format(cell.value)),
    make("td", {}, hundredths(cell.share)), make("td", {}, interval(cell)),
    make("td", {}, hundredths(results.cdf[i].share)), make("td", {}, interval(results.cdf[i]))));
  element("rows").replaceChildren(...rows);
  element("rows-note").textContent = results.cells.length > MAX_ROWS
    ? `The first ${count.format(MAX_ROWS)} of ${count.format(results.cells.length)} answers; the file holds all.` : "";
}

function draw() {
  drawShares();
  drawCdf();
}

function drawShares() {
  const { cells } = results;
  const [longest, highest] = ["share", "high"].map((key) => largest(cells, key));
  const top = Math.min(1, highest * 1.05, longest * MAX_ABOVE_BARS);
  const label = `Bars: the estimated share of people with each answer, from ${scale.low} to ${scale.high}. The table below holds all figures.`;
  const chart = frame({ holder: element("shares"), height: HEIGHT, ...scale, top, label });
  charts.shares = { ...chart, cells };
  const narrow = chart.slot < MIN_SLOT_FOR_LINES;
  if (narrow) chart.root.append(bars(chart, cells.map(({ value, low, high }) => [value, high, 1, low]), "band"));
  chart.root.append(bars(chart, cells.map(({ value, share }) => [value, share]), "bars"));
  if (!narrow) chart.root.append(whiskers(chart, cells, top));
  const cut = highest > top ? " Intervals that reach the top go on beyond it: with so much noise single answers are unsure, while the curve below, the mean and the quartiles say more." : "";
  element("shares-note").textContent = `Bars: estimated share of people; ${narrow ? "pale columns" : "lines"}: intervals, ${confidence()} for each answer.${cut}`;
}

const largest = (cells, key) => cells.reduce((most, cell) => Math.max(most, cell[key]), 1e-9);

function whiskers({ x, y, slot }, cells, top) {
  const half = Math.min(MAX_WHISKER, slot / 3);
  const parts = cells.filter(({ low, high }) => high > low).map(({ value, low, high }) => {
    const [at, from, to] = [x(value), y(Math.max(0, low)), y(high)].map(fixed);
    const end = (share, place) => (share > 0 && share <= top ? `M${fixed(x(value) - half)} ${place}h${fixed(2 * half)}` : "");
    return `M${at} ${from}V${to}${end(low, from)}${end(high, to)}`;
  });
  return shape("path", { class: "whiskers", d: parts.join("") });
}

function drawCdf() {
  const { cdf, quantiles } = results;
  const label = `A rising line: the estimated share of people with at most each answer, from ${scale.low} to ${scale.high}. The table below holds all figures.`;
  const chart = frame({ holder: element("cdf"), height: HEIGHT, ...scale, top: 1, label });
  charts.cdf = { ...chart, cells: cdf };
  const { root, x, y, edges } = chart;
  const line = (key) => cdf.map((one) => [x(one.value - scale.step / 2), x(one.value + scale.step / 2), y(Math.max(0, one[key]))].map(fixed));
  const forth = (points) => points.map(([left, right, height]) => `${left} ${height}L${right} ${height}`).join("L");
  const back = (points) => points.toReversed().map(([left, right, height]) => `${right} ${height}L${left} ${height}`).join("L");
  root.append(shape("path", { class: "band", d: `M${forth(line("high"))}L${back(line("low"))}Z` }));
  root.append(shape("path", { class: "steps", d: `M${forth(line("share"))}` }));
  for (const { value, share } of quantiles) {
    root.append(shape("path", { class: "quartile", fill: "none", d: `M${edges.left} ${fixed(y(share))}H${fixed(x(value))}V${edges.bottom}` }));
  }
  element("cdf-note").textContent = `Line: estimate; band: intervals, ${confidence()} for each answer; dashed: the quartiles.`;
}

// The answer under the mouse, and its figures beside the chart.
function point(event, id) {
  const { root, edges, slot, cells } = charts[id];
  const tip = element(`${id}-tip`);
  root.querySelector(".pointed")?.remove();
  tip.textContent = "";
  if (!event) return;
  const which = Math.floor((event.clientX - root.getBoundingClientRect().left - edges.left) / slot);
  if (!cells[which]) return;
  root.append(shape("rect", {
    class: "pointed", x: edges.left + which * slot, y: edges.top, width: Math.max(1, slot), height: edges.bottom - edges.top,
  }));
  const { value, share, low, high } = cells[which];
  tip.textContent = `${id === "cdf" ? "Up to " : ""}${whole.format(value)}: ${percent(share, 0.01)} (${percent(low, 0.01)} to ${percent(high, 0.01)})`;
}

function csvOf({ cells, cdf }) {
  const head = "value,share,low,high,cumulative,cumulative_low,cumulative_high";
  const rows = cells.map(({ value, share, low, high }, i) => [value, share, low, high, cdf[i].share, cdf[i].low, cdf[i].high].join(","));
  return `${[head, ...rows].join("\n")}\n`;
}

function download() {
  const address = URL.createObjectURL(new Blob([csvOf(results)], { type: "text/csv" }));
  make("a", { href: address, download: `${results.survey.name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
