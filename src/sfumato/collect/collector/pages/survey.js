// The participant's page: asks, shows what the noise does, sends the noisy number and says what was sent.

import { answer, capitalize, codeOf, rangeOf, refusal, sendAgain, sizeOf } from "./answer.js";
import { bars, frame, make, redrawOnResize, shape, whole, write } from "./chart.js";
import { AnswerError, CAP, recall, spent } from "./memory.js";
import { chances, protection } from "./noise.js";
import { element, say, spellEpsilon, surveyName } from "./page.js";

const home = new URL(`../api/surveys/${encodeURIComponent(surveyName)}`, location.href);
const address = `${home.href}/reports`;
const PICTURE_HEIGHT = 170;
// The narrowest column, in pixels; on longer axes neighbours share one.
const COLUMN = 2;

let survey = null;
let justSent = null;

async function open() {
  const response = await fetch(home, { credentials: "omit", cache: "no-store" }).catch(() => null);
  if (!response) say("The collector cannot be reached. Check your connection and load this page again; nothing was sent.");
  else if (response.status === 404) say(`There is no survey called “${surveyName}” here. Check the address you were given.`);
  else if (!response.ok) say(await refusal(response));
  else begin(await response.json());
}

function begin(found) {
  survey = found;
  document.title = survey.question;
  element("question").textContent = survey.question;
  element("claim").textContent = `${capitalize(survey.claim)}.`;
  element("epsilon").textContent = spellEpsilon(survey);
  const may = tellEarlier();
  if (survey.mechanism !== "geometric") {
    say("This survey cannot be answered in a browser: it asks for a kind of noise that this page does not make.");
    return;
  }
  element("about").hidden = false;
  element("protection").textContent = protection(survey);
  if (!survey.open) say("This survey is closed. It takes no more answers, and nothing is sent from this page.");
  else if (may) offer();
}

function offer() {
  const { min, max, step } = survey;
  Object.assign(element("value"), { min, max, step, inputMode: min < 0 ? "text" : "numeric" });
  element("range").textContent = min === max
    ? `Only ${min} can be answered: whatever is sent says no more than that somebody took part.`
    : `${capitalize(rangeOf(survey))}${step > 1 ? "; round to the nearest" : ""}.`;
  element("picture-holder").hidden = min === max;
  element("form").hidden = false;
  element("form").addEventListener("submit", (event) => {
    event.preventDefault();
    send(() => answer(survey, typed(), { address }));
  });
  element("again").addEventListener("click", () => send(() => sendAgain(survey, { address })));
  element("value").addEventListener("input", () => {
    justSent = null;
    element("problem").textContent = "";
    element("value").removeAttribute("aria-invalid");
    draw();
  });
  redrawOnResize(element("picture"), draw);
}

const typed = () => (element("value").value.trim() === "" ? NaN : Number(element("value").value));

async function send(work) {
  for (const id of ["send", "again"]) element(id).disabled = true;
  element("problem").textContent = "";
  try {
    const report = await work();
    justSent = report.delivered ? report.value : null;
    tell(report);
    tellSpent();
    draw();
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    element("problem").textContent = error.message;
    element("value").setAttribute("aria-invalid", "true");
    element("value").focus();
  } finally {
    for (const id of ["send", "again"]) element(id).disabled = false;
  }
}

// What was sent before; whether this survey may be answered.
function tellEarlier() {
  try {
    tellSpent();
    const report = recall(survey);
    if (report) tell({ ...report, earlier: true });
    return true;
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    say(error.message);
    return false;
  }
}

function tellSpent() {
  element("spent").textContent = `ε = ${CAP} in all; so far they are worth ε = ${whole.format(spent())}`;
}

// What was sent, or waits to be.
function tell({ value, delivered, problem, earlier }) {
  const number = make("b", {}, whole.format(value));
  const state = !delivered ? "has not reached the collector yet." : earlier ? "was sent from this browser before." : "was sent. Thank you.";
  element("sent-text").replaceChildren("Your answer stays here; ", number, ` ${state}`);
  element("sent-more").textContent = delivered && !problem
    ? "If you answer again, the same number is sent again and counted once, whatever you type."
    : `${problem ? `${problem} ` : ""}The same number will be sent next time; no new noise is drawn.`;
  element("again").hidden = delivered || !survey.open;
  element("sent").classList.toggle("waiting", !delivered);
  element("sent").hidden = false;
}

// How likely each number is to be sent for the typed answer, or for one in the middle as an example.
function draw() {
  const { min, max, step } = survey;
  const size = sizeOf(survey);
  const chosen = codeOf(survey, typed());
  const code = chosen ?? Math.floor((size - 1) / 2);
  const value = min + step * code;
  const holder = element("picture");
  const together = 1 + 2 * Math.ceil(((size * COLUMN) / Math.max(holder.clientWidth, 240) - 1) / 2);
  const columns = chances(survey, code, together);
  const top = Math.max(...columns.map(([, chance]) => chance)) * 1.18;
  const label = `How likely each number from ${min} to ${max} is to be sent if the answer is ${value}.`;
  const picture = frame({ holder, height: PICTURE_HEIGHT, low: min, high: max, step, top, showsShares: false, label });
  const { root, x, edges } = picture;
  root.append(bars(picture, columns, "bars"));
  root.append(shape("line", { class: "answer", x1: x(value), x2: x(value), y1: edges.top + 6, y2: edges.bottom }));
  write(root, chosen === null ? "an answer" : "your answer", x(value), edges.top + 2, "name");
  if (justSent !== null) root.append(shape("path", { class: "reported", d: `M${x(justSent)} ${edges.bottom - 11}l6 11h-12z` }));
  element("caption").textContent = [
    chosen === null
      ? `How likely each number is to be sent if the answer is, for example, ${value}. Type yours to see it; typing sends nothing.`
      : `How likely each number is to be sent in place of ${value}. Drawn here; typing sends nothing.`,
    ...(together > 1 ? [`A column stands for ${together} numbers.`] : []),
    ...(justSent === null ? [] : [`The triangle marks the number that was sent, ${whole.format(justSent)}.`]),
  ].join(" ");
}

open();
