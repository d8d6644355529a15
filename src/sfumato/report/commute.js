"use strict";
// Draws every chart in the place that waits for it, as wide as that place.
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const options = { renderer: "svg", actions: false, ast: true, tooltip: { disableDefaultStyle: true } };
  const fit = { width: "container", autosize: { type: "fit-x", contains: "padding" }, padding: 4 };
  const narrow = 460;
  const shown = new Map();

  function specFor(holder) {
    const spec = { ...charts[holder.dataset.chart], ...fit };
    if (holder.clientWidth >= narrow) return { ...spec, height: 320 };
    return { ...spec, height: 260, config: { ...spec.config, legend: { ...spec.config.legend, labelLimit: 280 } } };
  }

  async function draw(holder) {
    try {
      shown.get(holder)?.finalize();
      shown.set(holder, await vegaEmbed(holder, specFor(holder), options));
      holder.dataset.drawn = "yes";
    } catch (reason) {
      holder.textContent = "The chart could not be drawn. The tables below have the figures.";
      console.error(reason);
    }
  }

  document.documentElement.classList.remove("still");
  const holders = [...document.querySelectorAll("[data-chart]")];
  for (const holder of holders) draw(holder);
  // Drawn for half a sheet of paper, so that nothing is cut off.
  const setWidth = (width) => { for (const [holder, view] of shown) view.view.signal("width", width ?? holder.clientWidth).run(); };
  window.addEventListener("beforeprint", () => setWidth(330));
  window.addEventListener("afterprint", () => setWidth());
  let wasNarrow = holders[0]?.clientWidth < narrow;
  window.addEventListener("resize", () => {
    const isNarrow = holders[0]?.clientWidth < narrow;
    if (isNarrow !== wasNarrow) for (const holder of holders) draw(holder);
    wasNarrow = isNarrow;
  });
})();
