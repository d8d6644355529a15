// Statements by verdict, and every chart in the place that waits for it.
const charts = read("charts");
const holders = [...document.querySelectorAll("[data-chart]")];
const buttons = [...document.querySelectorAll(".filter button")];
const narrow = 460;

for (const button of buttons) {
  button.addEventListener("click", () => {
    for (const one of buttons) one.setAttribute("aria-pressed", one === button);
    const wanted = button.dataset.verdict;
    for (const row of document.querySelectorAll("#statements tbody tr")) row.hidden = wanted && row.dataset.verdict !== wanted;
  });
}

function specFor(name, width) {
  const spec = { ...charts[name], padding: 4, height: width >= narrow ? 340 : 260 };
  const legend = { ...spec.config.legend, columns: width >= narrow ? 3 : 1, labelLimit: 280 };
  return { ...spec, config: { ...spec.config, legend } };
}

function drawAll() {
  for (const holder of holders) drawInto(holder, "yes", (width) => specFor(holder.dataset.chart, width));
}

drawAll();
followTheme(drawAll);
// Half a sheet of paper, so that nothing is cut off.
followWidth(holders[0], narrow, 330, drawAll);
