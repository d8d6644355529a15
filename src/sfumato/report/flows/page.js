// Every chart in the place that waits for it.
const charts = read("charts");
const holders = [...document.querySelectorAll("[data-chart]")];
const narrow = 460;

function specFor(name, width) {
  const spec = { ...charts[name], padding: 4 };
  if (width >= narrow) return { ...spec, height: 320 };
  return { ...spec, height: 260, config: { ...spec.config, legend: { ...spec.config.legend, labelLimit: 280 } } };
}

function drawAll() {
  for (const holder of holders) drawInto(holder, "yes", (width) => specFor(holder.dataset.chart, width));
}

drawAll();
// Half a sheet of paper, so that nothing is cut off.
followWidth(holders[0], narrow, 330, drawAll);
