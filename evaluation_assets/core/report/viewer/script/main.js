// The viewer: runs, trajectories and labels beside the summary, which stands in the page without any script.

import { address, addressOf } from "./address.js";
import { isInside, readIndex } from "./archive.js";
import { command, folder, writeCommands } from "./commands.js";
import { attachChanges, showComparison } from "./compare.js";
import { deskState, isServed, readDesk } from "./desk.js";
import { count, counted, element, fill } from "./dom.js";
import { focusField } from "./label_form.js";
import { asFile, labelled, labelledClips, openLabels } from "./labels.js";
import { isError } from "./outline.js";
import { isReview, openReview, queued, reviewAddress, showReview } from "./review.js";
import { focusSearch, listed, openRuns, showRuns, tableAddress } from "./runs.js";
import { readTexts } from "./search.js";
import { labelShown, move, showTrajectory, updateLabels } from "./transcript.js";

const KEYS = {
  "j": ["next step", () => move(1)],
  "k": ["previous step", () => move(-1)],
  "e": ["next failed call", () => move(1, isError)],
  "E": ["previous failed call", () => move(-1, isError)],
  "]": ["next run of the table or queue", () => beside(1)],
  "[": ["previous run of the table or queue", () => beside(-1)],
  "p": ["label: pass (again: remove)", () => labelShown("pass", false)],
  "f": ["label: fail (again: remove)", () => labelShown("fail", false)],
  "P": ["label the clip of this step: pass", () => labelShown("pass", true)],
  "F": ["label the clip of this step: fail", () => labelShown("fail", true)],
  "s": ["label: a score of 0 to 1", () => focusField("score")],
  "n": ["label: a comment", () => focusField("comment")],
  "q": ["review queue", () => (location.hash = addressOf("review"))],
  "/": ["filter and search", () => searchRuns()],
  "c": ["compare with the other run", () => (location.hash = addressOf("compare"))],
  "r": ["runs table", () => (location.hash = tableAddress())],
  "?": ["this list", () => document.getElementById("keys").showModal()],
};

const TOGGLES = ["p", "f", "P", "F"];

const views = {};
let index = null;
let byId = new Map();
let desk = null;

async function start() {
  writeCommands();
  index = await readIndex();
  attachChanges(index);
  byId = new Map(index.rows.map((row) => [row.id, row]));
  views.summary = document.getElementById("summary");
  const host = document.getElementById("viewer");
  for (const view of ["runs", "run", "compare", "review", "labels"]) {
    views[view] = element("main", { id: `view-${view}`, hidden: true });
    host.append(views[view]);
  }
  desk = await readDesk();
  openLabels(index.drop, desk.labels, labelsChanged);
  openReview(index, byId);
  openRuns(views.runs, index);
  fill(document.getElementById("views"), link("Summary", "#"), link("Runs", addressOf("runs")), link("Compare", addressOf("compare")), link("Review", addressOf("review")), link("Labels", addressOf("labels")), keysButton());
  host.append(keys());
  host.hidden = false;
  addEventListener("hashchange", show);
  addEventListener("keydown", pressed);
  show();
  document.documentElement.dataset.viewer = "ready";
  if (isInside()) (window.requestIdleCallback ?? setTimeout)(() => readTexts(index.rows));
}

function show() {
  const { view, argument } = address();
  const known = view !== null && view in views ? view : "summary";
  for (const [key, place] of Object.entries(views)) place.hidden = key !== known;
  for (const each of document.querySelectorAll("#views a")) {
    const isShown = each.dataset.view === (known === "run" ? (isReview() ? "review" : "runs") : known);
    if (isShown) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  if (known === "runs") showRuns();
  else if (known === "review") showReview(views.review);
  else if (known === "labels") showLabelsView();
  else if (known === "compare") attempt(views.compare, showComparison(views.compare, index));
  else if (known === "run") open(argument);
  else showSection(document.getElementById(location.hash.slice(1)));
  if (known !== "summary") scrollTo(0, 0);
}

/** Scroll to a section of the summary, which may be folded. */
function showSection(section) {
  section?.closest("details")?.setAttribute("open", "");
  section?.scrollIntoView();
}

function open(id) {
  const row = byId.get(id);
  if (row === undefined) {
    fill(views.run, element("p", {}, "This report has no such run. It may have been removed by a rule, or renamed in another evaluation."));
    return;
  }
  const list = isReview() ? queued() : listed().some((one) => one.id === id) ? listed() : index.rows;
  attempt(views.run, showTrajectory(views.run, row, list));
}

/** Show why a view cannot be drawn in its place. */
function attempt(place, drawing) {
  drawing.catch((problem) => fill(place, element("p", { class: "alert" }, problem.message)));
}

function beside(direction) {
  const { view, argument } = address();
  const inQueue = view === "review" || isReview();
  const list = inQueue ? queued() : listed();
  const next = view === "run" ? list[list.findIndex((row) => row.id === argument) + direction] : list[0];
  if (next !== undefined) location.hash = inQueue ? reviewAddress(next.id) : addressOf("run", next.id);
}

function labelsChanged() {
  updateLabels();
  if (address().view === "labels") showLabelsView();
}

function searchRuns() {
  if (address().view !== "runs") location.hash = tableAddress();
  show();
  focusSearch();
}

function pressed(event) {
  const isTyping = event.target.matches("input, textarea, select");
  if (isTyping && (event.key === "Escape" || (event.key === "Enter" && event.target.closest(".label-form") !== null))) event.target.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || document.getElementById("keys").open) return;
  const key = KEYS[event.key];
  if (key === undefined) return;
  event.preventDefault();
  if (event.repeat && TOGGLES.includes(event.key)) return; // a key that is held would set and remove the label in turn
  key[1]();
}

function showLabelsView() {
  const annotator = element("input", { type: "text", id: "annotator", value: desk.annotator ?? "", autocomplete: "name" });
  const download = () => {
    const file = new Blob([asFile(index.drop, annotator.value.trim() || "unknown")], { type: "application/x-ndjson" });
    const target = element("a", { href: URL.createObjectURL(file), download: `${index.drop.split("/").at(-1)}-labels.jsonl` });
    target.click();
    URL.revokeObjectURL(target.href);
  };
  fill(
    views.labels,
    element("h1", {}, "Labels"),
    element("p", {}, `Labels in this browser: ${count(labelled())} of ${counted(index.rows.length, "run")}${labelledClips() > 0 ? `, ${counted(labelledClips(), "clip")}` : ""}.`),
    isServed() && element("p", { role: "status" }, `Labels are written to ${desk.file} as you give them. ${deskState()}`),
    element("p", {}, element("label", { for: "annotator" }, "Your name "), annotator, " ", element("button", { type: "button", id: "download-labels", onclick: download }, "Download labels")),
    element("p", { class: "note" }, "Put the file into ", element("code", {}, folder("labels")), ". Compare the judges with it: ", element("code", {}, command("judges"))),
  );
}

function keysButton() {
  return element("button", { type: "button", onclick: KEYS["?"][1] }, "Keys");
}

function keys() {
  return element(
    "dialog",
    { id: "keys", "aria-label": "Keys" },
    element("h2", {}, "Keys"),
    element("dl", { class: "pairs" }, Object.entries(KEYS).map(([key, [meaning]]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, meaning)])),
    element("form", { method: "dialog" }, element("button", {}, "Close")),
  );
}

function link(title, target) {
  return element("a", { href: target, "data-view": title.toLowerCase() }, title);
}

start().catch((problem) => {
  document.getElementById("views").textContent = `The viewer cannot start: ${problem.message}`;
});
