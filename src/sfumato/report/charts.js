// Charts fill the place that waits for them; they are drawn anew when it becomes narrow, and at another width for paper.
const element = (id) => document.getElementById(id);
const read = (id) => JSON.parse(element(id).textContent);
const drawn = new Map();

// Ink, quiet words, grid and paper of charts, and colours too dark for a dark page: by day and by night.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const byNight = {
  "#1d2b36": "#e3e9ed", "#5a6872": "#a3b0b9", "#e4e8eb": "#33404a", white: "#161d23", "#0072b2": "#2277ee", "#332288": "#ffccff",
  "#771122": "#ee2244", "#444400": "#ffff00", "#ee1144": "#ff0088", "#aa1188": "#ff88ff", "#005544": "#aaffcc", "#663300": "#ffddaa",
  "#227700": "#99ff44", "#886600": "#997755", "#996655": "#aa7777",
};

function inTheme(spec) {
  if (!dark.matches) return spec;
  const colours = Object.entries(byNight);
  return JSON.parse(colours.reduce((text, [day, night]) => text.replaceAll(`"${day}"`, `"${night}"`), JSON.stringify(spec)));
}

const followTheme = (redraw) => dark.addEventListener("change", redraw);

async function drawInto(holder, name, specFor, onClick) {
  try {
    drawn.get(holder)?.finalize();
    const fitted = { width: "container", autosize: { type: "fit-x", contains: "padding" } };
    const spec = inTheme({ ...specFor(holder.clientWidth), ...fitted });
    const options = { renderer: "svg", actions: false, ast: true, tooltip: { disableDefaultStyle: true } };
    drawn.set(holder, await vegaEmbed(holder, spec, options));
    holder.classList.toggle("night", dark.matches);
    if (onClick) drawn.get(holder).view.addEventListener("click", (event, item) => item?.datum?.id && onClick(item.datum.id));
    holder.drawnSpec = spec;
    holder.dataset.drawn = name;
  } catch (reason) {
    holder.textContent = "The chart could not be drawn. The tables below have all figures.";
    console.error(reason);
  }
}

function followWidth(holder, narrow, paper, redraw) {
  const setWidths = (widthOf) => { for (const [one, chart] of drawn) chart.view.signal("width", widthOf(one)).run(); };
  const onPaper = (one) => Math.round((paper * one.clientWidth) / (holder?.clientWidth || one.clientWidth));
  window.addEventListener("beforeprint", () => setWidths(onPaper));
  window.addEventListener("afterprint", () => setWidths((one) => one.clientWidth));
  const isNarrow = () => holder?.clientWidth < narrow;
  let wasNarrow = isNarrow();
  window.addEventListener("resize", () => {
    if (isNarrow() !== wasNarrow) redraw();
    wasNarrow = isNarrow();
  });
}

document.documentElement.classList.remove("still");
