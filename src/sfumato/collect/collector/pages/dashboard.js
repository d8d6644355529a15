// The administrator's page: asks for the results every few seconds while it is looked at, and shows them.

import { refusal } from "./answer.js";
import { count, make } from "./chart.js";
import { element, say, surveyName } from "./page.js";
import { showResults } from "./results.js";

const surveys = new URL("../api/surveys", location.href);
const TOKEN = "sfumato:token";
const EVERY = 4000;
const memory = openMemory();

let shown = null;
let timer = 0;
let asking = false;

class Refused extends Error {}
class WrongToken extends Refused {}

// Where nothing may be kept, the token lives as long as the page.
function openMemory() {
  try {
    return sessionStorage;
  } catch {
    return {};
  }
}

// The token leaves the address bar at once, so that it is not copied, bookmarked or kept in the history.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  memory[TOKEN] = given.trim();
}

async function ask(address) {
  const headers = { Authorization: `Bearer ${memory[TOKEN]}` };
  const response = await fetch(address, { headers, credentials: "omit", cache: "no-store" });
  if (response.status === 401) throw new WrongToken("The collector does not accept this token. Type the right one.");
  if (!response.ok) throw new Refused(await refusal(response));
  return response.json();
}

async function refresh() {
  takeToken();
  clearTimeout(timer);
  if (asking || document.hidden) return;
  const token = memory[TOKEN] ?? "";
  if (!/^[!-~]+$/.test(token)) {
    return askForToken(token ? "This token cannot be right: it holds spaces or letters that no token has." : "");
  }
  asking = true;
  try {
    await update();
  } catch (error) {
    if (error instanceof WrongToken) return askForToken(error.message);
    if (!(error instanceof Refused) && !(error instanceof TypeError)) throw error;
    const sentence = error instanceof Refused ? error.message : "The collector cannot be reached.";
    say(`${sentence} ${shown ? `What is shown is of ${shown.time}. ` : ""}The page keeps asking.`);
  } finally {
    asking = false;
  }
  timer = setTimeout(refresh, EVERY);
}

function askForToken(sentence) {
  say(sentence);
  element("token-form").hidden = false;
  element("token").focus();
}

async function update() {
  const { surveys: all } = await ask(surveys);
  element("token-form").hidden = true;
  const survey = all.find((one) => one.name === surveyName);
  if (!survey) throw new Refused(`There is no survey called “${surveyName}” here.`);
  showState(survey);
  if (survey.reports >= survey.smallest_batch && survey.reports !== shown?.reports) {
    const results = await ask(`${surveys.href}/${encodeURIComponent(surveyName)}/results`);
    showResults(results, survey);
    showReports(results.reports, survey.smallest_batch);
    shown = { reports: results.reports };
  }
  const time = new Date().toLocaleTimeString("en-GB");
  if (shown) shown.time = time;
  element("updated").textContent = `Asked at ${time}; the page asks again every ${EVERY / 1000} seconds while it is looked at.`;
  say("");
}

function showState({ question, reports, smallest_batch: smallest, open, ends }) {
  document.title = `Results: ${question}`;
  element("question").textContent = question;
  element("state").textContent = open ? "open" : "closed";
  const end = ends === null ? "" : new Date(ends).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  element("ends").replaceChildren(ends === null ? "no end is set" : make("time", { datetime: ends }, `${open ? "ends" : "ended"} ${end}`));
  if (reports !== shown?.reports) showReports(reports, smallest);
  element("figures").hidden = false;
}

function showReports(reports, smallest) {
  const lacking = Math.max(0, smallest - reports);
  element("reports").textContent = count.format(reports);
  element("needed").textContent = lacking
    ? `${count.format(lacking)} more needed: results appear from ${count.format(smallest)} on`
    : "";
  Object.assign(element("progress"), { hidden: !lacking, value: Math.min(1, reports / smallest) });
  for (const one of document.querySelectorAll(".facts .result")) one.hidden = Boolean(lacking);
}

element("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  memory[TOKEN] = element("token").value.trim();
  element("token").value = "";
  refresh();
});
document.addEventListener("visibilitychange", refresh);
addEventListener("hashchange", refresh);
refresh();
