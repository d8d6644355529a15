// A small chart for each family of methods: its curves in colour and by name, all other releases in grey behind them.
const smallHeight = 220, smallMargin = 50;

function familySpec(family, chosen, width) {
  const rows = pairRows(chosen);
  const own = rows.filter((row) => row.family === family && !row.endpoint);
  const large = parts.spec.layer.find((layer) => layer.name === "trials").encoding;
  const place = Object.fromEntries(["x", "y"].map((axis) => {
    const about = parts.axes[chosen[axis]], log = isLog(axis);
    const scale = { domain: about.domain, zero: false, nice: false, ...(log ? { type: "symlog", constant: about.constant } : {}) };
    const ticks = { format: about.format, tickCount: 4, labelOverlap: "greedy", title: null, offset: 6, ...(log ? { values: about.ticks } : {}) };
    return [axis, { field: axis, type: "quantitative", scale, axis: ticks }];
  }));
  const colour = { ...large.color, legend: null }, shape = { ...large.shape, legend: null };
  const words = large.tooltip.filter((line) => !line.field.startsWith("text."));
  const opacity = { condition: { test: "datum.eligible", value: 1 }, value: 0.4 };
  const named = (align, paint) => ({
    data: { name: "labels" },
    transform: [{ filter: `datum.align == '${align}'` }],
    mark: { type: "text", align, baseline: "middle", fontSize: 10, dx: { expr: "datum.dx" }, ...paint },
    encoding: { ...place, text: { field: "name" }, ...(paint.stroke ? {} : { color: colour }) },
  });
  const layer = [
    { data: { name: "all" }, mark: { type: "circle", color: "#5a6872", opacity: 0.18, size: 14 }, encoding: place },
    {
      data: { name: "efficient" },
      mark: { type: "line", color: "#1d2b36", opacity: 0.35, strokeWidth: 1.25 },
      encoding: { ...place, order: { field: "x", type: "quantitative" } },
    },
    {
      data: { name: "own" },
      mark: { type: "line", strokeWidth: 1.5 },
      encoding: { ...place, color: colour, opacity, detail: { field: "curve" }, order: { field: "step", type: "ordinal" } },
    },
    {
      data: { name: "own" },
      mark: { type: "point", filled: true, size: 34 },
      encoding: { ...place, color: colour, opacity, shape, tooltip: words },
    },
    ...["left", "right"].flatMap((align) => [named(align, { stroke: "white", strokeWidth: 3 }), named(align, {})]),
  ];
  const quiet = own.map((row) => ({ ...row, recommended: false }));
  const labels = curveLabels(quiet, [width - smallMargin, smallHeight], noMarks, lowerOf(chosen));
  const datasets = { all: rows, own, efficient: rows.filter((row) => row.efficient), labels };
  return { $schema: parts.spec.$schema, config: parts.spec.config, height: smallHeight, padding: 4, datasets, layer };
}
