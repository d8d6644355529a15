// The canvas: outlines, flows and points are a picture that is moved along with the map and painted anew when the map
// rests or shows its edge; only marks on single points are drawn in every frame.

const context = canvas.getContext("2d");
const OVERSCAN = 1.4; // The picture reaches beyond the canvas, so that a drag does not uncover bare edges.
const MAX_CELLS = 3e6;
const MANY = 2000;
const MAX_RADIUS = 26, MIN_RADIUS = 1.6, MAX_DOT = 9;
const SHARE_OF_AREA = 0.055; // Origins together cover no more of the canvas than this, unless one looks closer.

const colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["sea", "land", "border", "ink", "paper", "people", "more", "fewer", "dot"]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
  const stops = (name) => style.getPropertyValue(`--${name}-ramp`).trim().split(/\s+/).map(channels);
  colours.ramps = {
    people: { more: rampOf(stops("people")) },
    difference: { more: rampOf(stops("more")), fewer: rampOf(stops("fewer")), faint: rampOf(stops("fewer"), 0.3) },
  };
}
const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const shownRamps = () => colours.ramps[isDifference() ? "difference" : "people"];

let backdrop = null;
let isPlanned = false;
let job = 0, isWorking = false, isOutdated = true;

// The picture no longer says what it should: begin anew at once.
function repaint() {
  isOutdated = true;
  job++;
  isWorking = false;
  redraw();
}

function redraw() {
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(drawFrame);
}

function drawFrame() {
  isPlanned = false;
  context.setTransform(screen.ratio, 0, 0, screen.ratio, 0, 0);
  context.fillStyle = colours.sea;
  context.fillRect(0, 0, screen.width, screen.height);
  if (backdrop) {
    const { left, top, width, height } = whereIsBackdrop();
    context.drawImage(backdrop.image, left, top, width, height);
  }
  if (state.chosen !== NOWHERE) paintTarget();
  if (hovered !== NOWHERE) paintHovered();
  showScale();
  if (!isWorking && (isOutdated || (!isInPlace() && (!isMoving() || !isCovered())))) paintBackdrop();
}

function whereIsBackdrop() {
  const { x, y, scale } = backdrop.view, grown = view.scale / scale;
  const corner = toScreen(x - backdrop.width / 2 / scale, y - backdrop.height / 2 / scale);
  // Whole pixels need no smoothing, which without a graphics card is most of the work.
  const [left, top] = grown === 1 ? corner.map((value) => Math.round(value * screen.ratio) / screen.ratio) : corner;
  return { left, top, width: backdrop.width * grown, height: backdrop.height * grown };
}

const isInPlace = () => backdrop && ["x", "y", "scale"].every((key) => backdrop.view[key] === view[key]);
const isMoving = () => pointers.size > 0 || isRolling || destined !== null;
const isSettled = () => !isWorking && !isPlanned && !isOutdated && !isMoving() && isInPlace();

function isCovered() {
  if (destined !== null) return true; // A flight is over soon.
  const { left, top, width, height } = whereIsBackdrop();
  return left <= 0 && top <= 0 && left + width >= screen.width && top + height >= screen.height;
}

const newPicture = (width, height) => make("canvas", { width: Math.ceil(width), height: Math.ceil(height) });

async function paintBackdrop() {
  const mine = ++job;
  isWorking = true;
  const isStale = () => mine !== job;
  const target = { ...view }, width = screen.width * OVERSCAN, height = screen.height * OVERSCAN;
  const image = newPicture(width * screen.ratio, height * screen.ratio);
  const brush = image.getContext("2d");
  brush.scale(screen.ratio, screen.ratio);
  const at = (x, y) => [(x - target.x) * target.scale + width / 2, (y - target.y) * target.scale + height / 2];
  paintShapes(brush, at, shapes, { fillStyle: colours.land, strokeStyle: colours.border, lineWidth: 0.8 });
  setGrowth();
  if (state.chosen === NOWHERE) {
    const lines = await paintLines(target, width, height, isStale);
    if (!lines) return;
    brush.drawImage(lines.picture, 0, 0, width, height);
    // Again over the lines, faintly, to find one's way.
    paintShapes(brush, at, shapes, { strokeStyle: colours.ink, lineWidth: 0.6, globalAlpha: 0.15 });
    showLegend(lines.most);
  } else showLegend();
  paintDots(brush, at, width, height);
  if (state.chosen !== NOWHERE) paintChosen(brush, at, width, height);
  backdrop = { image, view: target, width, height };
  isWorking = isOutdated = false;
  redraw();
}

function paintShapes(brush, at, some, style) {
  const [e, f] = at(0, 0), scale = at(1, 0)[0] - e;
  Object.assign(brush, { lineJoin: "round", ...style });
  for (const shape of some) {
    const path = new Path2D();
    path.addPath(shape.path, { a: scale, d: scale, e, f });
    if (style.fillStyle) brush.fill(path, "evenodd");
    brush.stroke(path);
  }
  brush.globalAlpha = 1;
}

async function paintLines(target, width, height, isStale) {
  const fine = Math.min(screen.ratio, Math.sqrt(MAX_CELLS / (width * height)));
  const across = Math.ceil(width * fine), down = Math.ceil(height * fine), scale = target.scale * fine;
  const place = {
    x: Float64Array.from(points.x, (x) => (x - target.x) * scale + across / 2),
    y: Float64Array.from(points.y, (y) => (y - target.y) * scale + down / 2),
  };
  const cells = await sumLines({ flows: shownFlows(), place, across, down, least: state.leastFlow, shows, isStale });
  const coloured = cells && (await colourCells(cells, across, down, shownRamps(), isStale));
  if (!coloured) return null;
  const picture = newPicture(across, down);
  picture.getContext("2d").putImageData(coloured.image, 0, 0);
  return { picture, most: coloured.most };
}

// Destinations to click on, larger where more people go.
function paintDots(brush, at, width, height) {
  const all = shownFlows().destinations;
  const grow = state.chosen === NOWHERE ? MAX_DOT / Math.sqrt(largest(Array.from(all, sizeOf))) : 0;
  const smallest = all.length > MANY ? 0.8 * closeness() : 2;
  Object.assign(brush, { fillStyle: colours.dot, strokeStyle: colours.paper, lineWidth: 0.8 });
  brush.globalAlpha = (all.length > MANY ? 0.6 : 0.85) * (state.chosen === NOWHERE ? 1 : 0.4);
  for (const point of all) {
    const [x, y] = at(points.x[point], points.y[point]);
    if (!shows(point) || x < 0 || y < 0 || x > width || y > height) continue;
    const radius = Math.max(smallest, grow * Math.sqrt(sizeOf(point)));
    brush.beginPath();
    brush.arc(x, y, radius, 0, 2 * Math.PI);
    brush.fill();
    if (radius > 2) brush.stroke();
  }
  brush.globalAlpha = 1;
}

// The origins of the chosen destination, the largest first so that small ones lie on top.
let origins = [], originAt = new Map(), growth = 1;
const closeness = () => between(1, Math.sqrt(view.scale / wholeView().scale), 4);
function gatherOrigins() {
  const flows = shownFlows();
  origins = [];
  if (state.chosen !== NOWHERE) {
    eachPair(flows, flows, state.chosen, (point, people) => origins.push({ point, people, size: Math.abs(people) }));
  }
  origins = origins.filter(({ point, size }) => point !== OUTSIDE && size >= state.leastFlow);
  origins.sort((one, other) => other.size - one.size);
  originAt = new Map(origins.map((origin) => [origin.point, origin]));
}

function setGrowth() {
  const total = origins.reduce((sum, { size }) => sum + size, 1);
  const room = Math.sqrt((SHARE_OF_AREA * screen.width * screen.height) / (Math.PI * total));
  growth = Math.min(MAX_RADIUS / Math.sqrt(origins[0]?.size ?? 1), 6, room * closeness());
}
const radiusOf = (size) => Math.max(MIN_RADIUS, growth * Math.sqrt(size));

function paintChosen(brush, at, width, height) {
  paintShapes(brush, at, shapesOf(state.chosen), { strokeStyle: colours.ink, lineWidth: 2.5 });
  const groups = isDifference()
    ? [[colours.more, false, (one) => one.people > 0], [colours.fewer, true, (one) => one.people < 0]]
    : [[colours.people, false, () => true]];
  const isNear = ({ x, y, radius }) => x > -radius && y > -radius && x < width + radius && y < height + radius;
  const placed = origins.map((one) => {
    const [x, y] = at(points.x[one.point], points.y[one.point]);
    return { ...one, x, y, radius: radiusOf(one.size) };
  });
  const end = at(points.x[state.chosen], points.y[state.chosen]);
  for (const [colour, isHollow, belongs] of groups) paintWays(brush, placed.filter(belongs), end, colour, isHollow);
  for (const [colour, isHollow, belongs] of groups) {
    paintOrigins(brush, placed.filter((one) => belongs(one) && isNear(one)), colour, isHollow);
  }
}

// Many lines of one width to a path: far quicker than a path each, and where bundles cross it is still darker.
const WIDTHS = [0.6, 1.1, 2, 3.4];
const BUNDLE = 40;
function paintWays(brush, some, end, colour, isDashed) {
  const most = origins[0]?.size ?? 1;
  const rank = ({ size }) => Math.min(WIDTHS.length - 1, Math.floor(Math.sqrt(size / most) * WIDTHS.length));
  brush.strokeStyle = colour;
  brush.globalAlpha = between(0.1, 6 / Math.sqrt(origins.length + 1), 0.6);
  brush.setLineDash(isDashed ? [5, 4] : []);
  WIDTHS.forEach((width, wanted) => {
    const alike = some.filter((one) => rank(one) === wanted);
    brush.lineWidth = width;
    for (let first = 0; first < alike.length; first += BUNDLE) {
      brush.beginPath();
      for (const { x, y } of alike.slice(first, first + BUNDLE)) {
        brush.moveTo(x, y);
        brush.lineTo(...end);
      }
      brush.stroke();
    }
  });
  brush.setLineDash([]);
  brush.globalAlpha = 1;
}

function paintOrigins(brush, some, colour, isHollow) {
  Object.assign(brush, { fillStyle: isHollow ? colours.paper : colour, strokeStyle: isHollow ? colour : colours.paper });
  brush.lineWidth = isHollow ? 1.8 : 0.8;
  for (const { x, y, radius } of some) {
    brush.beginPath();
    brush.arc(x, y, radius, 0, 2 * Math.PI);
    brush.globalAlpha = isHollow ? 0.5 : 0.78;
    brush.fill();
    brush.globalAlpha = 1;
    if (isHollow || radius > 2.5) brush.stroke();
  }
}

function paintTarget() {
  const [x, y] = toScreen(points.x[state.chosen], points.y[state.chosen]);
  for (const [size, colour] of [[11, colours.paper], [8, colours.ink]]) {
    context.fillStyle = colour;
    context.fill(new Path2D(`M${x},${y - size}l${size},${size} ${-size},${size} ${-size},${-size}z`));
  }
}

const shapesOf = (point) => shapes.filter((shape) => shape.point === point);

function paintHovered() {
  paintShapes(context, toScreen, shapesOf(hovered), { strokeStyle: colours.ink, lineWidth: 1.6 });
  const [x, y] = toScreen(points.x[hovered], points.y[hovered]);
  const radius = originAt.has(hovered) ? radiusOf(originAt.get(hovered).size) : 4;
  context.beginPath();
  context.arc(x, y, radius + 3, 0, 2 * Math.PI);
  Object.assign(context, { strokeStyle: colours.ink, lineWidth: 2 });
  context.stroke();
}

// The point at a spot: that of the outline around it, else the nearest within reach.
function pointAt(left, top, reach, isWanted) {
  const [x, y] = toWorld(left, top);
  const around = shapes.find((shape) => shape.point !== NOWHERE && isInside(shape, x, y));
  if (around) return isWanted(around.point) ? around.point : NOWHERE;
  let nearest = NOWHERE, least = reach * reach;
  for (let point = 0; point < points.count; point++) {
    const [across, down] = toScreen(points.x[point], points.y[point]);
    const square = (across - left) ** 2 + (down - top) ** 2;
    if (square < least && isWanted(point)) [nearest, least] = [point, square];
  }
  return nearest;
}

function onClick(left, top, kind) {
  const point = pointAt(left, top, kind === "touch" ? 26 : 14, (one) => goesSomewhere(one) && shows(one));
  if (point !== NOWHERE) choose(point);
}

let hovered = NOWHERE;
function hover(left, top) {
  const point = left < 0 ? NOWHERE : pointAt(left, top, 12, (one) => originAt.has(one) || (goesSomewhere(one) && shows(one)));
  if (point !== hovered) {
    hovered = point;
    redraw();
  }
  showTip(point, left, top);
}
