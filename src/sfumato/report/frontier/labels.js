// Names beside curves: each where it covers no mark that matters, no words and not the dark line, or nowhere.
const letter = 6, line = 13, mark = 9, edge = 6, beside = 4, stride = 8;

function curveLabels(rows, [width, height], marks, lower) {
  const at = (row) => [row.x_share * width, (1 - row.y_share) * height];
  const around = ([x, y], reach) => [x - reach, y - reach, x + reach, y + reach];
  const overlap = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
  const inside = ([left, top, right, bottom]) => left >= 0 && top >= 0 && right <= width && bottom <= height;
  const taken = [...obstacles(rows, at, around), ...meanings(marks, lower, width, height)];
  const curves = Map.groupBy(rows.filter((row) => !row.endpoint), (row) => row.curve);
  const weight = (curve) => curve.filter((row) => row.efficient).length;
  const ordered = [...curves].sort(([a, one], [b, two]) => weight(two) - weight(one) || (a < b ? -1 : 1));
  return ordered.flatMap(([name, curve]) => {
    const length = letter * [...name].length;
    for (const row of [...curve].sort((a, b) => b.efficient - a.efficient || b.step - a.step)) {
      const [x, y] = at(row);
      for (const [align, dx, left] of [["left", mark, x + mark], ["right", -mark, x - mark - length]]) {
        const box = [left, y - line / 2, left + length, y + line / 2];
        if (!inside(box) || taken.some((other) => overlap(box, other))) continue;
        taken.push(box);
        return [{ x: row.x, y: row.y, series: row.series, eligible: row.eligible, name, dx, align }];
      }
    }
    return [];
  });
}

// Around every mark, where notes may stand, and along the dark line through the efficient releases.
function obstacles(rows, at, around) {
  const found = rows.map((row) => around(at(row), mark / (row.efficient ? 2 : 4)));
  for (const row of rows.filter((one) => one.recommended || one.endpoint)) {
    const [x, y] = at(row), high = line * (1 + row.note.split("\n").length);
    for (const left of [x - row.room, x]) found.push([left, y - high, left + row.room, y + high]);
  }
  const efficient = rows.filter((row) => row.efficient).map(at).sort((one, other) => one[0] - other[0]);
  for (const [place, [x, y]] of efficient.slice(0, -1).entries()) {
    const [toX, toY] = efficient[place + 1], steps = Math.ceil(Math.hypot(toX - x, toY - y) / stride);
    for (let step = 1; step < steps; step++) {
      found.push(around([x + (step / steps) * (toX - x), y + (step / steps) * (toY - y)], 1));
    }
  }
  return found;
}

// Where the meanings of reference values stand: upright for those across, on the side that is worse.
function meanings(marks, lower, width, height) {
  const length = (one, most) => Math.min(letter * [...one.text].length, most);
  const across = marks.x.map((one) => {
    const x = one.share * width, long = length(one, 0.8 * height);
    const left = one.late ? x - beside - line : x + beside, top = lower.y ? edge : height - edge - long;
    return [left, top, left + line, top + long];
  });
  const upwards = marks.y.map((one) => {
    const y = (1 - one.share) * height, long = length(one, 0.5 * width), left = lower.x ? width - edge - long : edge;
    return [left, y - beside - line, left + long, y - beside];
  });
  return [...across, ...upwards];
}
