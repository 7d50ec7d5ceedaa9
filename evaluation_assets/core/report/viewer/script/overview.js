// The list of reports: a search over the runs of all of them. The lists stand in the page without any script.

import { address, addressOf, replaceAddress } from "./address.js";
import { readIndex } from "./archive.js";
import { command, writeCommands } from "./commands.js";
import { count, counted, element, figure, fill, name } from "./dom.js";
import { folded, outcomeOf, parsed } from "./query.js";

const SHOWN = 50;
const UNKNOWN = { types: [], failed: [], failed_types: [], violated: [], scores: {}, label: null };

let rows = [];
let leftOut = 0;
const parts = {};

async function start() {
  writeCommands();
  const section = document.getElementById("search");
  if (section !== null) await startSearch(section);
  document.documentElement.dataset.viewer = "ready";
}

async function startSearch(section) {
  const index = await readIndex();
  rows = rowsOf(index);
  leftOut = index.left_out;
  parts.query = element("input", {
    type: "search",
    "aria-label": "Search runs of all reports",
    placeholder: "Search runs, e.g. outcome:fail tool:search timeout",
    oninput: () => {
      replaceAddress(parts.query.value ? addressOf("runs", null, { q: parts.query.value }) : "#");
      show();
    },
  });
  parts.status = element("p", { class: "note", role: "status" });
  parts.command = element("p", { class: "note" });
  parts.runs = element("div");
  fill(section, element("h2", {}, "Runs"), parts.query, parts.status, parts.runs, parts.command);
  addEventListener("hashchange", read);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input")) return;
    event.preventDefault();
    parts.query.focus();
  });
  read();
}

/** Rows as the query knows them, each with the texts in which words are searched. */
function rowsOf({ drops, addresses, columns }) {
  return columns.id.map((_, place) => {
    const row = { ...UNKNOWN };
    for (const [key, values] of Object.entries(columns)) row[key] = values[place];
    row.words = { finding: row.findings, group: row.groups };
    row.page = addresses[row.drop];
    row.drop = drops[row.drop];
    row.text = folded([row.drop, row.id, row.task_id, row.task, ...row.findings, ...row.tools].join("\n"));
    return row;
  });
}

function read() {
  const { view, parameters } = address();
  parts.query.value = (view === "runs" && parameters.get("q")) || "";
  show();
  if (parts.query.value) document.getElementById("search").scrollIntoView();
}

function show() {
  const query = parts.query.value.trim();
  const { matches, words } = parsed(query);
  const found = query === "" ? [] : rows.filter((row) => matches(row) && words.every((word) => row.text.includes(word)));
  const of = `${counted(rows.length, "run")}${leftOut ? `; ${counted(leftOut, "report")} left out` : ""}`;
  parts.status.textContent = query === "" ? `Search IDs, tasks, tools and findings of ${of}.` : `${count(found.length)} of ${of}`;
  fill(parts.command, words.length > 0 && ["Search the transcripts, too: ", element("code", {}, command("search", ...words.map(asTerm)))]);
  draw(found, SHOWN);
}

function draw(found, shown) {
  const left = found.length - shown;
  fill(
    parts.runs,
    found.length > 0 &&
      element(
        "div",
        { class: "scroll", role: "region", "aria-label": "Runs found", tabindex: 0 },
        element("table", { class: "runs" }, element("thead", {}, element("tr", {}, ["Run", "Drop", "Outcome", "Overall score", "Findings"].map((title) => element("th", { scope: "col" }, title)))), element("tbody", {}, found.slice(0, shown).map(line))),
      ),
    left > 0 && element("button", { type: "button", class: "more-rows", onclick: () => draw(found, shown + 10 * SHOWN) }, `Show more of ${counted(left, "run")}`),
  );
}

function line(row) {
  const outcome = outcomeOf(row);
  const like = row.groups.length > 0 && [" ", element("a", { class: "alike", href: addressOf("runs", null, { q: `group:"${row.groups[0]}"` }) }, "more like this")];
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("a", { href: row.page + addressOf("run", row.id) }, name(row.id)), element("span", { class: "task", dir: "auto" }, name(row.task))),
    element("td", { "data-label": "Drop" }, name(row.drop)),
    element("td", { "data-label": "Outcome" }, outcome === "unknown" ? "–" : outcome),
    element("td", { class: "n", "data-label": "Overall score" }, figure(row.score)),
    element("td", { "data-label": "Findings" }, row.findings.length === 0 ? "–" : name(row.findings.join(", ").replaceAll("_", " ")), like),
  );
}

/** A word as the search takes it: a phrase in double quotes, and not an option. */
function asTerm(word) {
  return /\s|^-/.test(word) ? `"${word}"` : word;
}

start().catch((problem) => {
  document.getElementById("search").textContent = `The search cannot start: ${problem.message}`;
});
