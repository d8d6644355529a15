// What the page was given: points, outlines and flows, unpacked once.

const element = (id) => document.getElementById(id);
const given = JSON.parse(element("data").textContent);

const ARRAYS = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, int32: Int32Array, float32: Float32Array };

function unpack([kind, text]) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return new ARRAYS[kind](bytes.buffer);
}

const RADIANS = Math.PI / 180;
const EARTH_RADIUS = 6371.0088;

// Mercator, in radians from the centre of the data: x to the right, y down.
const north = (degrees) => Math.log(Math.tan(Math.PI / 4 + (Math.max(-85, Math.min(85, degrees)) * RADIANS) / 2));
const MIDDLE = north(given.centre[1]);
function project({ longitude, latitude }) {
  return {
    x: Float64Array.from(unpack(longitude), (degrees) => degrees * RADIANS),
    y: Float64Array.from(unpack(latitude), (degrees) => MIDDLE - north(degrees + given.centre[1])),
  };
}

const points = {
  count: given.points.names.length,
  names: given.points.names,
  areas: Array.from(unpack(given.points.area), (code) => given.points.areas[code] ?? ""),
  latitude: unpack(given.points.latitude),
  longitude: unpack(given.points.longitude),
  number: new Map(given.points.names.map((name, i) => [name, i])),
  ...project(given.points),
};
const OUTSIDE = points.count;

const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 1);

function distance(one, other) {
  const [low, high] = [one, other].map((i) => (points.latitude[i] + given.centre[1]) * RADIANS);
  const across = Math.sin(((points.longitude[one] - points.longitude[other]) * RADIANS) / 2);
  const along = Math.sin((low - high) / 2);
  const square = along * along + Math.cos(low) * Math.cos(high) * across * across;
  return (2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(square)))) / given.kilometres;
}

// Each shape: the point it stands for (or -1), its corners, and the path around them on the flat map.
function readShapes(raw) {
  const { x, y } = project(raw);
  const [rings, corners, owners] = [raw.rings, raw.corners, raw.points].map(unpack);
  let ring = 0, corner = 0;
  return Array.from(rings, (count, i) => {
    const path = new Path2D(), first = corner;
    for (const end = ring + count; ring < end; ring++) {
      path.moveTo(x[corner], y[corner]);
      for (const last = corner + corners[ring]; corner < last; corner++) path.lineTo(x[corner], y[corner]);
      path.closePath();
    }
    return { point: owners[i], path, x: x.subarray(first, corner), y: y.subarray(first, corner) };
  });
}
const shapes = given.outlines ? readShapes(given.outlines) : [];
const flatMap = document.createElement("canvas").getContext("2d");
const isInside = (shape, x, y) => flatMap.isPointInPath(shape.path, x, y, "evenodd");

// Destination number i owns the pairs start[i] to start[i + 1], in the order of origins.
function indexFlows(flows) {
  flows.run = new Int32Array(points.count).fill(-1);
  flows.people = new Float64Array(flows.destinations.length);
  flows.total = 0;
  flows.destinations.forEach((point, i) => {
    flows.run[point] = i;
    for (let pair = flows.start[i]; pair < flows.start[i + 1]; pair++) flows.people[i] += flows.counts[pair];
    flows.total += flows.people[i];
  });
  return flows;
}

const readFlows = (raw) => indexFlows(Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, unpack(value)])));
const copies = Object.fromEntries(Object.entries(given.flows).map(([name, raw]) => [name, readFlows(raw)]));

const peopleAt = (flows, point) => (flows.run[point] < 0 ? 0 : flows.people[flows.run[point]]);

function pairsOf(flows, point) {
  const run = flows.run[point];
  return run < 0 ? [0, 0] : [flows.start[run], flows.start[run + 1]];
}

// Every origin of a destination in either copy, with the people in both.
function eachPair(one, other, point, visit) {
  let [i, iEnd] = pairsOf(one, point);
  let [j, jEnd] = pairsOf(other, point);
  while (i < iEnd || j < jEnd) {
    const left = i < iEnd ? one.origins[i] : Infinity;
    const right = j < jEnd ? other.origins[j] : Infinity;
    visit(Math.min(left, right), left <= right ? one.counts[i] : 0, right <= left ? other.counts[j] : 0);
    if (left <= right) i++;
    if (right <= left) j++;
  }
}

function differenceOf(one, other) {
  const flows = { destinations: [], start: [0], origins: [], counts: [] };
  for (let point = 0; point < points.count; point++) {
    if (one.run[point] < 0 && other.run[point] < 0) continue;
    eachPair(one, other, point, (origin, a, b) => {
      if (a === b) return;
      flows.origins.push(origin);
      flows.counts.push(a - b);
    });
    flows.destinations.push(point);
    flows.start.push(flows.origins.length);
  }
  return indexFlows(flows);
}

const NOWHERE = -1;

// What the reader asked for.
const state = { mode: "synthetic", chosen: NOWHERE, leastPeople: 1, leastFlow: 1, reach: 3 };

const isDifference = () => state.mode === "difference";
let difference = null;
const shownFlows = () => copies[state.mode] ?? (difference ??= differenceOf(copies.synthetic, copies.original));
// What is compared; without a difference, one copy with itself.
const sides = () => (isDifference() ? [copies.synthetic, copies.original] : [copies[state.mode], copies[state.mode]]);
// How large a destination is for the eye: in a difference, the larger of its two numbers.
function sizeOf(point) {
  const [one, other] = sides();
  return Math.max(peopleAt(one, point), peopleAt(other, point));
}
const shows = (point) => point === state.chosen || sizeOf(point) >= state.leastPeople;
const goesSomewhere = (point) => sizeOf(point) > 0;
