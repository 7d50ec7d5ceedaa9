// The form that labels a trajectory or a clip: pass, fail, a score, a comment.

import { element } from "./dom.js";
import { deskState, isServed } from "./desk.js";
import { labelOf, labelWord, setLabel } from "./labels.js";

/** The form of a trajectory, or of one of its clips. `keys` are those of pass and fail. */
export function labelForm(trajectory, clip, keys) {
  const about = clip === null ? "the run" : `clip ${clip}`;
  const choice = (value, key) =>
    element("button", { type: "button", "data-label": value, title: `${about}: ${value} (${key})`, onclick: () => toggleLabel(trajectory, clip, value) }, value);
  const form = element(
    "div",
    { class: "label-form", "data-clip": clip === null ? "" : clip },
    clip === null && element("span", {}, "Your label: "),
    choice("pass", keys[0]),
    choice("fail", keys[1]),
    element("input", { type: "number", min: 0, max: 1, step: "any", "data-field": "score", "aria-label": `Score of ${about}, 0 to 1`, placeholder: "0–1", onchange: (event) => takeScore(event.target, trajectory, clip) }),
    element("input", { type: "text", "data-field": "comment", "aria-label": `Comment on ${about}`, placeholder: "Comment", oninput: (event) => setLabel(trajectory, clip, { comment: event.target.value }) }),
    clip === null && isServed() && element("span", { class: "quiet", role: "status" }),
  );
  showLabel(form, trajectory, clip);
  return form;
}

/** Set a label, or remove it where it is set. */
export function toggleLabel(trajectory, clip, label) {
  setLabel(trajectory, clip, { label: labelOf(trajectory, clip).label === label ? null : label });
}

/** Show the labels of a trajectory as they are now. */
export function showLabels(trajectory) {
  for (const form of document.querySelectorAll("#view-run .label-form")) showLabel(form, trajectory, form.dataset.clip === "" ? null : Number(form.dataset.clip));
}

/** Put the cursor into a field of the form of the open trajectory; what is typed replaces what is there. */
export function focusField(field) {
  document.querySelector(`#view-run .label-form[data-clip=""] [data-field=${field}]`)?.select();
}

function showLabel(form, trajectory, clip) {
  const { label, comment } = labelOf(trajectory, clip);
  for (const button of form.querySelectorAll("[data-label]")) button.setAttribute("aria-pressed", String(labelWord(label) === button.dataset.label));
  const [score, text] = [form.querySelector("[data-field=score]"), form.querySelector("[data-field=comment]")];
  if (document.activeElement !== score) score.value = typeof label === "number" ? String(label) : "";
  if (document.activeElement !== text) text.value = comment;
  const state = form.querySelector("[role=status]");
  if (state !== null) state.textContent = deskState();
}

/** Set the score in a field. What is no score is refused, and an empty field removes nothing but a score. */
function takeScore(field, trajectory, clip) {
  const score = field.value === "" ? null : Number(field.value);
  const isNone = field.validity.badInput || (score !== null && !(score >= 0 && score <= 1));
  field.setCustomValidity(isNone ? "Not saved: a score is a number from 0 to 1." : "");
  if (isNone) field.reportValidity();
  else if (score !== null || typeof labelOf(trajectory, clip).label === "number") setLabel(trajectory, clip, { label: score });
}
