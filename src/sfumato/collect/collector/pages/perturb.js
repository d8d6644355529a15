// Noise for one's own whole number, added before it leaves the device: the truncated geometric mechanism, exact.
//
//   import { makeMechanism } from "./perturb.js";
//   const report = makeMechanism({ size: 100, epsilon: "1/2" }).perturb(37);   // codes are 0..size − 1
//
// Two geometric numbers are drawn, and their difference is added; what falls off an end is reported as that end. A
// table holds ⌊2⁶⁴ F(k)⌋ for the cumulative law F. A random 64-bit word below an entry is below F(k) for certain, one
// above it is above, and one equal to it is settled by further words against further digits of F(k). So every
// probability is exactly the one that the privacy claim speaks of, and the same words give the same report as in
// Python. Randomness comes from crypto.getRandomValues and nothing else, and there is no way to seed it.
//
// How much is drawn and computed does not depend on the value: noise is made before it is looked at, and a table is
// always read to its end. What JavaScript cannot promise is that its engine takes equally long for equal work
// (compiling, collecting garbage, whole numbers of any length); words that equal an entry, of which there are about
// `size` in 2⁶⁴, take longer. A remembered report (answer.js) is drawn once, so there is one time to measure, not many.

const WORD = 64n;
const ONES = (1n << WORD) - 1n;
const FINE = 1024n;
const SPARE = 64n;
const MAX_VALUES = 2 ** 31 - 1;
const MAX_EPSILON = 10n ** 6n;
// The error of `decayed`, in units of its last digit, and what one more multiplication by such a number adds to it.
const SLACK = 2n;
const SLACK_OF_PRODUCT = SLACK + 1n;

export function makeMechanism({ size, epsilon }) {
  const laws = makeLaws(size, epsilon);
  return Object.freeze({ size, epsilon, perturb: (code) => perturbed(size, laws, code, secureWords) });
}

const secureWords = (count) => globalThis.crypto.getRandomValues(new BigUint64Array(count));

// A report made of the words, BigInts, that `takeWords(count)` gives. Tests dictate them, which protects nobody.
export function perturbed(size, laws, code, takeWords) {
  if (!Number.isInteger(code) || code < 0 || code >= size) {
    throw new RangeError(`the value ${code} is not on the axis; expected a whole number from 0 to ${size - 1}`);
  }
  let [one, other] = [0n, 0n];
  for (const law of laws) {
    const fine = draw(law, 2, takeWords);
    [one, other] = [one * FINE + fine[0], other * FINE + fine[1]];
  }
  // Noise that is too large to be an exact number leads off the axis all the same.
  return Math.min(Math.max(code + Number(one - other), 0), size - 1);
}

// How many of the F(k) lie at or below a uniform number, for `count` of them. Beyond the end of its table a law that is
// not truncated starts anew: it has no memory.
function draw(law, count, takeWords) {
  const found = Array.from(takeWords(count)).map((word) => {
    const passed = passedEntries(law, word);
    const equal = passed < law.size && law.high[passed] === upper(word) && law.low[passed] === lower(word);
    return BigInt(equal ? resolved(law, passed, word, takeWords) : passed);
  });
  const beyond = [...found.keys()].filter((i) => found[i] === BigInt(law.size));
  const again = beyond.length ? draw(law, beyond.length, takeWords) : [];
  beyond.forEach((i, place) => (found[i] += again[place]));
  return found;
}

const upper = (word) => Number(word >> 32n);
const lower = (word) => Number(word & 0xffffffffn);

// The number of entries below a word; the whole table is read, whatever the word.
function passedEntries({ size, high, low }, word) {
  const [top, bottom] = [upper(word), lower(word)];
  let passed = 0;
  for (let k = 0; k < size; k++) passed += (high[k] < top) | ((high[k] === top) & (low[k] < bottom));
  return passed;
}

// Compares a uniform number that starts with `word` with every F(k) from `first` on that may do so too.
function resolved(law, first, word, takeWords) {
  const drawn = [word];
  const most = law.truncated ? law.size - 1 : law.size;
  let k = first;
  while (k < most && isAtMost(law, k, drawn, takeWords)) k++;
  return k;
}

// Whether F(k) is at most a uniform number that starts with the words `drawn`; draws more if it must.
function isAtMost(law, k, drawn, takeWords) {
  for (let place = 0; ; place++) {
    if (place === drawn.length) drawn.push(takeWords(1)[0]);
    const word = cumulative(law, k, BigInt(place + 1)) & ONES;
    if (word !== drawn[place]) return word < drawn[place];
  }
}

// The parts of a draw, coarsest first. One table suffices unless ε is so small that it would be long.
export function makeLaws(size, epsilon) {
  if (!Number.isInteger(size) || size < 1 || size > MAX_VALUES) {
    throw new RangeError(`the number of values is ${size}; expected a whole number from 1 to ${MAX_VALUES}`);
  }
  let [numerator, denominator] = parseEpsilon(epsilon);
  const fine = [];
  while (numerator * FINE < denominator) {
    fine.unshift(withTable({ numerator, denominator, size: Number(FINE), truncated: true }));
    numerator *= FINE;
  }
  const length = Math.ceil((64 * Math.LN2) / nearestNumber(numerator, denominator)) + 1;
  return [withTable({ numerator, denominator, size: length, truncated: false }), ...fine];
}

// "1/2", "0.5" or 3 as a numerator and a denominator.
export function parseEpsilon(epsilon) {
  const [, over, under, whole, part = ""] = /^(?:(\d+)\/(\d+)|(\d+)(?:\.(\d+))?)$/.exec(String(epsilon).trim()) ?? [];
  const [numerator, denominator] = over
    ? [BigInt(over), BigInt(under)]
    : [BigInt((whole ?? "0") + part), 10n ** BigInt(part.length)];
  if (numerator === 0n || denominator === 0n || numerator > MAX_EPSILON * denominator) {
    throw new RangeError(`epsilon is ${epsilon}; expected a number above 0 and at most 1,000,000, such as "1/2"`);
  }
  const common = commonDivisor(numerator, denominator);
  return [numerator / common, denominator / common];
}

const commonDivisor = (one, other) => (other ? commonDivisor(other, one % other) : one);
const atLeastZero = (number) => (number > 0n ? number : 0n);
const bitLength = (number) => BigInt(number.toString(2).length);

// The nearest double of a fraction from 1/1024 to a million: its last digit says whether anything was cut off.
function nearestNumber(numerator, denominator) {
  const shift = 80n + bitLength(denominator) - bitLength(numerator);
  const scaled = numerator << shift;
  const cut = scaled % denominator ? 1n : 0n;
  return Number((scaled / denominator) | cut) / 2 ** Number(shift);
}

// e^(−numerator/denominator) · 2^bits, wrong by less than SLACK.
//
// The exponent x is halved until it is below 1/128 and the power series summed with `bits + halvings + 32` digits.
// Each of its T terms is cut off once and inherits less than one unit, so the sum is wrong by at most 2T + 2 units;
// every squaring of a number up to 1 doubles that and adds one. In all this is less than 2^halvings (2T + 3) units of
// the longer number, below one unit of the shorter as long as 2T + 3 < 2³²; cutting off adds another.
function decayed(numerator, denominator, bits) {
  const halvings = atLeastZero(bitLength(numerator) - bitLength(denominator) + 8n);
  const digits = bits + halvings + 32n;
  const divisor = denominator << halvings;
  let [term, total] = [1n << digits, 0n];
  for (let number = 1n; term; number++) {
    total += number & 1n ? term : -term;
    term = (term * numerator) / (divisor * number);
  }
  for (let i = 0n; i < halvings; i++) total = (total * total) >> digits;
  return total >> (digits - bits);
}

// ⌊2^(64·words) F(k)⌋ with F(k) = (1 − β^(k+1)) / (1 − β^size), β = e^(−ε); without the divisor if not truncated.
// More and more digits are worked out until the floor is beyond doubt.
function cumulative(law, k, words) {
  const exponent = law.numerator * BigInt(k + 1);
  // From x ≥ 64 · words · ln 2 on, e^(−x) is too small to show in these digits; ln 2 < 0.6932.
  if (!law.truncated && exponent * 10_000n >= WORD * words * 6_932n * law.denominator) return (1n << (WORD * words)) - 1n;
  for (let spare = SPARE; ; spare *= 2n) {
    const bits = WORD * words + spare + lostBits(law);
    const found = sureFloor(decayed(exponent, law.denominator, bits), SLACK, divisorOf(law, bits), bits, words);
    if (found !== null) return found;
  }
}

// How many more digits 1 − e^(−ε) needs, being near zero, to be as exact as others.
const lostBits = ({ numerator, denominator }) => atLeastZero(bitLength(denominator) - bitLength(numerator) + 1n);

// 1 − β^size, or 1, times 2^bits, and by how much it may be wrong.
function divisorOf({ numerator, denominator, size, truncated }, bits) {
  if (!truncated) return [1n << bits, 0n];
  return [(1n << bits) - decayed(numerator * BigInt(size), denominator, bits), SLACK];
}

// ⌊2^(64·words) (1 − power) / divisor⌋ if it is the same at both ends of where errors may have led, else null.
function sureFloor(power, slack, [divisor, slackOfDivisor], bits, words) {
  const rest = (1n << bits) - power;
  const least = ((rest - slack) << (WORD * words)) / (divisor + slackOfDivisor);
  const most = ((rest + slack) << (WORD * words)) / (divisor - slackOfDivisor);
  return least === most ? least : null;
}

// ⌊2⁶⁴ F(k)⌋ for every k, by one multiplication each; the last of a truncated law, which is 2⁶⁴, less one.
function withTable(law) {
  const [high, low] = [new Uint32Array(law.size), new Uint32Array(law.size)];
  const bits = WORD + SPARE + lostBits(law);
  const [decay, divisor] = [decayed(law.numerator, law.denominator, bits), divisorOf(law, bits)];
  let [power, slack] = [decay, SLACK];
  for (let k = 0; k < law.size; k++) {
    const isLast = law.truncated && k === law.size - 1;
    const word = isLast ? ONES : sureFloor(power, slack, divisor, bits, 1n) ?? cumulative(law, k, 1n);
    [high[k], low[k]] = [upper(word), lower(word)];
    power = (power * decay) >> bits;
    slack += SLACK_OF_PRODUCT;
  }
  return Object.freeze({ ...law, high, low });
}
