// The review queue: which trajectories a person labels, in an order that no score has a part in.

import { address, addressOf } from "./address.js";
import { command } from "./commands.js";
import { isServed } from "./desk.js";
import { count, element, fill, name } from "./dom.js";
import { labelOf } from "./labels.js";

const REASONS = {
  violation: "violates a constraint",
  unscored: "no judge scored it",
  failed_case: "failed its test case",
  finding: "has a HIGH finding",
  likely_failure: "claims success, and has likely failed",
  undecided: "no stage of the cascade decided",
  low: "low score",
  disagreement: "the judges disagree",
  threshold: "close to the pass score",
  random: "drawn at random",
};

let dropOfQueue = null;
let queue = [];
let reasons = new Map();

/** Take the queue of the report. */
export function openReview(index, byId) {
  dropOfQueue = index.drop;
  reasons = new Map(index.queue);
  queue = index.queue.map(([id]) => byId.get(id)).filter(Boolean);
}

/** The rows of the queue, in its order. */
export function queued() {
  return queue;
}

/** Whether the open trajectory is read as one of the queue. */
export function isReview() {
  return address().parameters.get("review") !== null;
}

/** Whether the judges' scores are hidden: in the queue, until the person has answered. */
export function isBlind(id) {
  return isReview() && labelOf(id).label === null;
}

/** The address of a trajectory as one of the queue. */
export function reviewAddress(id) {
  return addressOf("run", id, { review: 1 });
}

/** Show the queue. */
export function showReview(container) {
  const done = queue.filter((row) => labelOf(row.id).label !== null).length;
  const next = queue.find((row) => labelOf(row.id).label === null);
  fill(
    container,
    element("h1", {}, "Review queue"),
    element("p", {}, queue.length === 0 ? "The queue is empty." : `${count(done)} of ${count(queue.length)} are labelled. `, next && element("a", { href: reviewAddress(next.id), id: "next-review" }, done === 0 ? "Start with the first" : "Go on with the next")),
    element("p", { class: "note" }, "Scores, outcomes and reasons are hidden until you have labelled a trajectory."),
    !isServed() && element("p", { class: "note" }, "Labels stay in this browser until you download them. To write them into the home folder as you give them: ", element("code", {}, command("review", dropOfQueue))),
    queue.length > 0 && element("div", { class: "scroll" }, element("table", { class: "runs" }, element("thead", {}, element("tr", {}, ["Run", "Your label", "Why it is in the queue"].map((title) => element("th", { scope: "col" }, title)))), element("tbody", {}, queue.map(queueRow)))),
  );
}

function queueRow(row) {
  const { label } = labelOf(row.id);
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("a", { href: reviewAddress(row.id) }, name(row.id)), element("span", { class: "task", dir: "auto" }, name(row.task))),
    element("td", { "data-label": "Your label" }, label === null ? "–" : String(label)),
    element("td", { "data-label": "Why" }, label === null ? "hidden" : (REASONS[reasons.get(row.id)] ?? reasons.get(row.id))),
  );
}
