// What this browser has sent to a site: one report per survey, in localStorage, and all together worth no more than CAP.
//
// A survey is known by its name. If it comes back with another question, range or noise, a fresh report would tell more
// about the same person than was promised, so it is refused. Under new names the same can be asked as often as one
// likes; therefore every report counts, and none is drawn beyond the cap. Losses add up: two answers a hundredth of
// the range apart make all that this browser sends to a site at most e^CAP times as likely as each other, whatever was
// asked. The sum is taken over the reports themselves, so that no count of them can be lost.

import { parseEpsilon } from "./perturb.js";

// Eight reports with ε = 1/2.
export const CAP = 4n;
const DECIMALS = 10n ** 6n;
const PER_STEP = ["geometric", "laplace"];
const HUNDRED = 100n;

// What may be told to whoever answers, as it stands.
export class AnswerError extends Error {}

export const FORGETFUL = "This browser does not let the page remember your report, and answering twice with fresh noise would weaken your protection. Nothing was sent.";
const UNREADABLE = "What this browser remembers of your reports cannot be read, and a second report would weaken your protection. Nothing was sent.";
const PARTS = {
  question: "question", min: "lowest answer", max: "highest answer", step: "step", mechanism: "kind of noise", epsilon: "ε",
};

// The name, the axis and the noise; ε in lowest terms, however it is spelled.
export function keyOf({ name, min, max, step, mechanism, epsilon }) {
  return ["sfumato", name, min, max, step, mechanism, parseEpsilon(epsilon).join("/")].join(":");
}

// The report that was drawn for a survey, or null if one may be drawn now; refused if neither is so.
export function recall(survey, storage) {
  const surveys = remembered(storage);
  const reports = surveys.filter(({ name }) => name === survey.name).map(({ text, ...before }) => {
    const { question = survey.question, ...report } = readReport(text);
    refuseChanged({ ...before, question }, survey);
    return report;
  });
  const [report = null] = reports;
  if (!report?.delivered) refuseBeyondCap(report ? surveys : [...surveys, survey]);
  return report;
}

export function keep(survey, storage, { id, value, delivered }) {
  const text = JSON.stringify({ id, value, delivered, question: survey.question });
  remembering(storage, (memory) => memory.setItem(keyOf(survey), text));
}

// What the reports that this browser keeps are worth, as a number with six decimals, rounded up.
export function spent(storage) {
  const [numerator, denominator] = total(remembered(storage));
  return Number((numerator * DECIMALS + denominator - 1n) / denominator) / Number(DECIMALS);
}

// Every survey that a report is kept for, with the text of the report.
function remembered(storage) {
  const found = remembering(storage, (memory) => Array.from({ length: memory.length }, (_, place) => memory.key(place))
    .filter((key) => key?.startsWith("sfumato:")).map((key) => [key, memory.getItem(key)]));
  return found.map(([key, text]) => {
    const [, name, min, max, step, mechanism, epsilon] = key.split(":");
    const survey = { name, min, max, step, mechanism, epsilon };
    return { ...survey, text: readable(() => keyOf(survey) === key && worth(survey) && text) };
  });
}

const readReport = (text) => readable(() => {
  const { id, value, delivered, question } = JSON.parse(text);
  return typeof id === "string" && Number.isSafeInteger(value) && { id, value, delivered: delivered === true, question };
});

function refuseChanged(before, survey) {
  const spelled = (one) => ({ ...one, epsilon: parseEpsilon(one.epsilon).join("/") });
  const [old, now] = [spelled(before), spelled(survey)];
  const changed = Object.keys(PARTS).filter((part) => String(old[part]) !== String(now[part]));
  if (!changed.length) return;
  const others = changed.map((part) => `another ${PARTS[part]}`).join(" and ");
  throw new AnswerError(`This browser has answered a survey of this name, which had ${others}. A second report about you would weaken your protection. Nothing was sent.`);
}

function refuseBeyondCap(surveys) {
  const [numerator, denominator] = total(surveys);
  if (numerator <= CAP * denominator) return;
  throw new AnswerError(`The reports that this site has from this browser, and this one, would together be worth more than ε = ${CAP}, the most that this page sends. A further report about you would weaken your protection. Nothing was sent.`);
}

// What a report counts for, exact: its ε; where that is per step, no less than what a hundredth of the range loses, as a
// finer unit makes any ε per step as small as one likes for the same noise.
function worth({ min, max, step, mechanism, epsilon }) {
  const [numerator, denominator] = parseEpsilon(epsilon);
  const values = (BigInt(max) - BigInt(min)) / BigInt(step) + 1n;
  const steps = PER_STEP.includes(mechanism) && values > HUNDRED ? values : HUNDRED;
  return [numerator * steps, denominator * HUNDRED];
}

// What all reports count for, exact.
const total = (surveys) => surveys.map(worth)
  .reduce(([a, b], [c, d]) => [a * d + c * b, b * d], [0n, 1n]);

function remembering(storage, work) {
  try {
    return work(storage ?? globalThis.localStorage);
  } catch {
    throw new AnswerError(FORGETFUL);
  }
}

// What a reading finds; where it finds nothing or fails, nothing may be sent.
function readable(read) {
  let found = null;
  try {
    found = read();
  } catch { /* told below */ }
  if (!found) throw new AnswerError(UNREADABLE);
  return found;
}
