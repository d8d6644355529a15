// What both pages share: their elements, the survey they are about, a sentence at the top, and ε in words.

export const element = (id) => document.getElementById(id);

export const surveyName = decodeURIComponent(location.pathname.split("/").at(-1));

// Only another sentence is read aloud, so the same one is not set again.
export function say(sentence) {
  if (element("notice").textContent !== sentence) element("notice").textContent = sentence;
  element("notice").hidden = !sentence;
}

// What ε is counted for: a step for noise that grows with the distance of answers, all of them for other noise.
export function spellEpsilon({ mechanism, epsilon, step }) {
  if (!["geometric", "laplace"].includes(mechanism)) return `ε = ${epsilon}`;
  return `ε = ${epsilon} per step${step > 1 ? ` of ${step}` : ""}`;
}
