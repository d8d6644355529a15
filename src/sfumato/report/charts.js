// Charts fill the place that waits for them; they are drawn anew when it becomes narrow, and at another width for paper.
const element = (id) => document.getElementById(id);
const read = (id) => JSON.parse(element(id).textContent);
const drawn = new Map();

async function drawInto(holder, name, specFor) {
  try {
    drawn.get(holder)?.finalize();
    const spec = { ...specFor(holder.clientWidth), width: "container", autosize: { type: "fit-x", contains: "padding" } };
    const options = { renderer: "svg", actions: false, ast: true, tooltip: { disableDefaultStyle: true } };
    drawn.set(holder, await vegaEmbed(holder, spec, options));
    holder.drawnSpec = spec;
    holder.dataset.drawn = name;
  } catch (reason) {
    holder.textContent = "The chart could not be drawn. The tables below have all figures.";
    console.error(reason);
  }
}

function followWidth(holder, narrow, paper, redraw) {
  const setWidth = (width) => { for (const [one, chart] of drawn) chart.view.signal("width", width ?? one.clientWidth).run(); };
  window.addEventListener("beforeprint", () => setWidth(paper));
  window.addEventListener("afterprint", () => setWidth());
  const isNarrow = () => holder?.clientWidth < narrow;
  let wasNarrow = isNarrow();
  window.addEventListener("resize", () => {
    if (isNarrow() !== wasNarrow) redraw();
    wasNarrow = isNarrow();
  });
}

document.documentElement.classList.remove("still");
