// The outline of a trajectory: messages, calls with their scores, failed calls, and calls that repeat an earlier one.

import { count, element, figure, name } from "./dom.js";
import { LOW } from "./verdicts.js";

const LISTED = 400;

/** Whether an item is a failed call's result. */
export function isError(item) {
  return item.kind === "result" && item.error !== undefined;
}

/** The outline; `link` makes the link to an item, `speaker` names who speaks. Scores of clips are shown unless hidden. */
export function outline(trajectory, items, isBlind, link, speaker) {
  const entries = items.filter((item) => item.kind === "user" || item.kind === "call" || item.kind === "message" || isError(item));
  const times = new Map();
  const lines = entries.slice(0, LISTED).map((item) => {
    const score = isBlind || item.kind !== "call" ? null : (trajectory.clips[item.clip]?.score ?? null);
    const again = item.kind === "call" ? repeated(times, item) : 1;
    return element(
      "li",
      { class: `${item.kind}${isError(item) || (score !== null && score < LOW) ? " alert" : ""}` },
      link(item, isError(item) ? "✕ failed" : item.kind === "call" ? name(item.tool) : speaker(item)),
      again > 1 && element("span", { class: "quiet", title: "The same call was made before" }, `↻ ${again}`),
      score !== null && element("span", { class: "n" }, figure(score)),
    );
  });
  const left = entries.length - lines.length;
  return element("nav", { class: "outline", "aria-label": "Outline" }, element("ol", {}, lines), left > 0 && element("p", { class: "note" }, `${count(left)} more are not listed here.`));
}

/** How often this call, with these arguments, was made up to here. */
function repeated(times, item) {
  const call = JSON.stringify([item.agent, item.tool, item.text]);
  times.set(call, (times.get(call) ?? 0) + 1);
  return times.get(call);
}
