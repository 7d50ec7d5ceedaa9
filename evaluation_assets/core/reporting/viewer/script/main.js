// The viewer: runs, trajectories and labels beside the summary, which stands in the page without any script.

import { address, addressOf } from "./address.js";
import { isInside, readIndex } from "./archive.js";
import { showComparison } from "./compare.js";
import { count, element, fill } from "./dom.js";
import { asFile, labelled, openLabels } from "./labels.js";
import { focusSearch, listed, openRuns, showRuns, tableAddress } from "./runs.js";
import { readTexts } from "./search.js";
import { isError, labelShown, move, showTrajectory, updateLabel } from "./transcript.js";

const KEYS = {
  "j": ["next step", () => move(1)],
  "k": ["previous step", () => move(-1)],
  "e": ["next failed call", () => move(1, isError)],
  "E": ["previous failed call", () => move(-1, isError)],
  "]": ["next trajectory of the table", () => beside(1)],
  "[": ["previous trajectory of the table", () => beside(-1)],
  "p": ["label: pass (again: remove)", () => labelShown("pass")],
  "f": ["label: fail (again: remove)", () => labelShown("fail")],
  "/": ["filter and search", () => searchRuns()],
  "c": ["compare with the other run", () => (location.hash = addressOf("compare"))],
  "r": ["runs table", () => (location.hash = tableAddress())],
  "?": ["this list", () => document.getElementById("keys").showModal()],
};

const views = {};
let index = null;
let byId = new Map();

async function start() {
  index = await readIndex();
  byId = new Map(index.rows.map((row) => [row.id, row]));
  views.summary = document.getElementById("summary");
  const host = document.getElementById("viewer");
  for (const view of ["runs", "run", "compare", "labels"]) {
    views[view] = element("main", { id: `view-${view}`, hidden: true });
    host.append(views[view]);
  }
  openLabels(index.drop, updateLabel);
  openRuns(views.runs, index);
  fill(document.getElementById("views"), link("Summary", "#"), link("Runs", addressOf("runs")), link("Compare", addressOf("compare")), link("Labels", addressOf("labels")), keysButton());
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
    const isShown = each.dataset.view === (known === "run" ? "runs" : known);
    if (isShown) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  if (known === "runs") showRuns();
  else if (known === "labels") showLabels();
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
    fill(views.run, element("p", {}, "This report has no such trajectory. It may have been removed by a rule, or renamed by another run."));
    return;
  }
  const list = listed().some((one) => one.id === id) ? listed() : index.rows;
  attempt(views.run, showTrajectory(views.run, row, list));
}

/** Show why a view cannot be drawn in its place. */
function attempt(place, drawing) {
  drawing.catch((problem) => fill(place, element("p", { class: "alert" }, problem.message)));
}

function beside(direction) {
  const { view, argument } = address();
  const place = view === "run" ? listed().findIndex((row) => row.id === argument) : -1;
  const next = view === "run" ? listed()[place + direction] : listed()[0];
  if (next !== undefined) location.hash = addressOf("run", next.id);
}

function searchRuns() {
  if (address().view !== "runs") location.hash = tableAddress();
  show();
  focusSearch();
}

function pressed(event) {
  const isTyping = event.target.matches("input, textarea, select");
  if (event.key === "Escape" && isTyping) event.target.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || document.getElementById("keys").open) return;
  const key = KEYS[event.key];
  if (key === undefined) return;
  event.preventDefault();
  key[1]();
}

function showLabels() {
  const annotator = element("input", { type: "text", id: "annotator", value: "", autocomplete: "name" });
  const download = () => {
    const file = new Blob([asFile(index.drop, annotator.value.trim() || "unknown")], { type: "application/x-ndjson" });
    const target = element("a", { href: URL.createObjectURL(file), download: `${index.drop.split("/").at(-1)}-labels.jsonl` });
    target.click();
    URL.revokeObjectURL(target.href);
  };
  fill(
    views.labels,
    element("h1", {}, "Labels"),
    element("p", {}, `${count(labelled())} of ${count(index.rows.length)} trajectories have a label in this browser.`),
    element("p", {}, element("label", { for: "annotator" }, "Your name "), annotator, " ", element("button", { type: "button", id: "download-labels", onclick: download }, "Download labels")),
    element("p", { class: "note" }, "Put the file into the folder labels/ of the installation. The next overview run compares the judges with it."),
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
