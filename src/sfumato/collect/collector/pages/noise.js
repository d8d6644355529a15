// What the noise of a survey means, in numbers for a picture and in words for whoever answers.

import { sizeOf } from "./answer.js";
import { parseEpsilon } from "./perturb.js";
import { percent } from "./chart.js";

const USUALLY = 0.9;
// From this chance on that an answer is sent as it is, the page warns.
const WEAK = 0.7;

function epsilonOf(survey) {
  const [numerator, denominator] = parseEpsilon(survey.epsilon);
  return Number(numerator) / Number(denominator);
}

// [middle, probability that one of them is sent, how many] for neighbours, an odd number `together`: the answer is in
// the middle of its own, so that what is symmetric looks so; at the ends of the axis there may be fewer.
export function chances(survey, code, together = 1) {
  const [size, decay] = [sizeOf(survey), Math.exp(-epsilonOf(survey))];
  const before = code - (together - 1) / 2;
  const found = [];
  for (let start = before - together * Math.ceil(before / together); start < size; start += together) {
    const [first, end] = [Math.max(0, start), Math.min(start + together, size)];
    let sum = 0;
    for (let report = first; report < end; report++) sum += chance(size, decay, code, report);
    found.push([survey.min + (survey.step * (first + end - 1)) / 2, sum, end - first]);
  }
  return found;
}

// G_ij: what falls off an end is reported as that end.
function chance(size, decay, code, report) {
  if (size === 1) return 1;
  const isEnd = report === 0 || report === size - 1;
  return ((isEnd ? 1 : 1 - decay) / (1 + decay)) * decay ** Math.abs(code - report);
}

export function protection(survey) {
  const epsilon = epsilonOf(survey);
  const { step } = survey;
  // At an end of the range, where the answer is likeliest to be sent as it is.
  const same = 1 / (1 + Math.exp(-epsilon));
  // The smallest distance that noise stays within nine times out of ten: P(|noise| > w) = 2 α^(w+1) / (1 + α).
  const within = step * Math.max(0, Math.ceil(Math.log((1 - USUALLY) / (2 * same)) / -epsilon - 1 - 1e-12));
  const far = Math.min(Math.max(1, Math.round(Math.LN2 / epsilon)), sizeOf(survey) - 1);
  if (far < 1) return "Only one answer is possible, so there is nothing to protect.";
  if (!within) {
    return `Hardly at all: with a chance of ${same < 0.99 ? `up to ${percent(same)}` : "over 99%"} the number sent is the answer itself. Answer only if you would not mind to give your answer away.`;
  }
  const usual = within < survey.max - survey.min
    ? `Nine times out of ten the number sent lies at most ${within} from the answer, and otherwise farther off.`
    : "The number sent may be any that can be answered.";
  const close = `Whoever sees it cannot be sure of the answer: two answers that are ${far * step} apart could both have led to it, one making it at most ${Math.exp(epsilon * far).toFixed(1)} times as likely as the other. Answers far from the number sent are less likely, so it does tell roughly where the answer lies.`;
  const weak = `Mind that the noise of this survey is weak: with a chance of up to ${percent(same)} the number sent is exactly the answer.`;
  return [usual, close, ...(same > WEAK ? [weak] : [])].join(" ");
}
