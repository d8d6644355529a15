// One noisy answer per survey and browser: drawn once, remembered, and the same whenever it is asked for again.
//
//   import { answer } from "./answer.js";
//   const sent = await answer(survey, 37, { address: "https://collector.example/api/surveys/age/reports" });
//
// Fresh noise for every answer would average away; so the report and its id are kept (memory.js), and later answers,
// whatever they are, send that report again. The true value is neither stored nor sent.

import { AnswerError, FORGETFUL, keep, recall } from "./memory.js";
import { makeMechanism } from "./perturb.js";

const ID_BYTES = 16;
// Milliseconds in which a write arrives in tabs that other processes run; with a lock or without, they see it late.
const SETTLING = 150;

export const sizeOf = (survey) => (survey.max - survey.min) / survey.step + 1;

// What may be answered, in words.
export function rangeOf({ min, max, step }) {
  if (min === max) return `the number ${min}`;
  return `a whole number from ${min} to ${max}${step > 1 ? ` in steps of ${step}` : ""}`;
}

// The place of a value among the possible answers, from 0 on; null if it is none of them.
export function codeOf({ min, max, step }, value) {
  const code = (value - min) / step;
  return Number.isSafeInteger(value) && Number.isInteger(code) && value >= min && value <= max ? code : null;
}

// A report of this survey: { id, value, delivered, problem }; `problem` is a sentence if it could not be delivered.
export async function answer(survey, value, { address, storage } = {}) {
  const code = codeOf(survey, value);
  if (code === null) throw new AnswerError(`Please enter ${rangeOf(survey)}${rounding(survey, value)}.`);
  if (survey.mechanism !== "geometric") throw new AnswerError("This page does not know the noise that this survey asks for.");
  const { perturb } = makeMechanism({ size: sizeOf(survey), epsilon: survey.epsilon });
  const draw = () => ({ id: makeId(), value: survey.min + survey.step * perturb(code), delivered: false });
  return once(survey, { address, storage }, draw);
}

// The remembered report, sent once more; null if there is none.
export async function sendAgain(survey, { address, storage } = {}) {
  return recall(survey, storage) && once(survey, { address, storage }, () => null);
}

// What a value between two answers is rounded to: the nearer one, or either if it is in the middle.
function rounding({ min, max, step }, value) {
  if (!(value > min && value < max)) return "";
  const below = min + step * Math.floor((value - min) / step);
  const [up, down] = [below + step - value, value - below];
  const nearest = up === down ? `${below} or ${below + step}` : up < down ? below + step : below;
  return `: round ${value} to ${nearest}`;
}

function makeId() {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function once(survey, { address, storage }, draw) {
  const report = await alone(() => drawnOnce(survey, storage, draw));
  const problem = await delivered(address ?? `/api/surveys/${survey.name}/reports`, report);
  const found = { ...report, delivered: report.delivered || !problem };
  try {
    if (found.delivered !== report.delivered) keep(survey, storage, found);
  } catch { /* the report is remembered already; without this note it is merely sent once more */ }
  return { ...found, problem };
}

// Only one tab of a site at a time draws and remembers, where the browser has locks: all surveys share a cap.
const alone = (task) => globalThis.navigator?.locks?.request("sfumato", task) ?? task();

// What is remembered wins over what was just drawn, also if another tab wrote it in between; and what another tab
// wrote counts, whichever survey it is for.
async function drawnOnce(survey, storage, draw) {
  const known = recall(survey, storage);
  if (known) return known;
  keep(survey, storage, draw());
  await new Promise((done) => setTimeout(done, SETTLING));
  const kept = recall(survey, storage);
  if (!kept) throw new AnswerError(FORGETFUL);
  return kept;
}

// Sends a report; null, or a sentence that says why it was not taken.
async function delivered(address, { id, value }) {
  const headers = { "Content-Type": "application/json" };
  const tellingNothing = { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store" };
  const request = { method: "POST", headers, body: JSON.stringify({ id, value }), ...tellingNothing };
  const response = await fetch(address, request).catch(() => null);
  if (!response) return "The collector could not be reached.";
  return response.ok ? null : refusal(response);
}

// The sentence of an answer that says no.
export async function refusal(response) {
  const { error } = await response.json().catch(() => ({}));
  const sentence = typeof error === "string" && error ? error : `the collector answered with status ${response.status}`;
  return `${capitalize(sentence.replace(/\.$/, ""))}.`;
}

export const capitalize = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;
