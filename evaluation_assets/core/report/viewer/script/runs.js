// The runs table: one row a trajectory, with a query, an order and columns of choice, all in the address.

import { address, addressOf, replaceAddress } from "./address.js";
import { count, counted, dollars, element, figure, fill, name, seconds } from "./dom.js";
import { CHANGE } from "./pairs.js";
import { labelOf } from "./labels.js";
import { outcomeOf, parsed } from "./query.js";
import { search } from "./search.js";

const SHOWN = 200;

const COLUMNS = {
  outcome: { title: "Outcome", value: outcomeOf, cell: (row) => outcome(row) },
  score: { title: "Overall score", number: true, value: (row) => row.score, cell: (row) => figure(row.score) },
  change: { title: "Change", number: true, value: (row) => row.change, cell: change },
  worst: { title: "Worst clip", number: true, value: (row) => row.worst, cell: worst },
  calls: { title: "Calls", number: true, value: (row) => row.calls, cell: (row) => count(row.calls) },
  errors: { title: "Errors", number: true, value: (row) => row.errors, cell: (row) => (row.errors ? alert(count(row.errors)) : "0") },
  turns: { title: "Turns", number: true, value: (row) => row.turns, cell: (row) => count(row.turns) },
  tokens: { title: "Tokens", number: true, value: (row) => row.tokens, cell: (row) => count(row.tokens) },
  cost: { title: "Cost", number: true, value: (row) => row.cost, cell: (row) => dollars(row.cost) },
  seconds: { title: "Time", number: true, value: (row) => row.seconds, cell: (row) => seconds(row.seconds) },
  agents: { title: "Agents", value: (row) => row.agents.join(", "), cell: (row) => list(row.agents) },
  tools: { title: "Tools", value: (row) => row.tools.join(", "), cell: (row) => list(row.tools) },
  flags: { title: "Flags", value: (row) => row.flags.join(", "), cell: (row) => list(row.flags) },
  label: { title: "Label", value: (row) => labelOf(row.id).label ?? "", cell: (row) => String(labelOf(row.id).label ?? "–") },
};
const DEFAULT_COLUMNS = ["outcome", "score", "change", "worst", "calls", "errors", "cost", "seconds", "flags", "label"];
const QUICK = { "failed": "outcome:fail", "with errors": "errors>0", "low score": "score<0.5", "not labelled": "label:none" };

const DEFAULT_SORT = "outcome"; // failed runs first

let rows = [];
let selection = [];
let state = { query: "", sort: DEFAULT_SORT, descending: false, columns: DEFAULT_COLUMNS };
let pending = 0;
const parts = {};

/** The trajectories of the table as it is filtered and sorted now. */
export function listed() {
  return selection;
}

/** The address of the table as it is now. */
export function tableAddress() {
  return addressOf("runs", null, {
    q: state.query,
    sort: state.sort === DEFAULT_SORT ? null : state.sort,
    descending: state.descending ? 1 : null,
    columns: state.columns === DEFAULT_COLUMNS ? null : state.columns.join(","),
  });
}

/** Build the table. */
export function openRuns(container, index) {
  ({ rows } = index);
  selection = ordered(rows);
  parts.query = element("input", {
    type: "search",
    "aria-label": "Filter and search",
    placeholder: "Filter and search, e.g. score<0.5 tool:search timeout",
    oninput: () => setState({ query: parts.query.value }),
  });
  parts.status = element("p", { class: "note", role: "status" });
  parts.quick = element("div", { class: "quick" });
  parts.columns = element("details", { class: "columns" });
  parts.table = element("div", { class: "scroll" });
  fill(container, element("h1", {}, "Runs"), parts.query, parts.quick, parts.columns, parts.status, parts.table);
}

/** Show the table of the address. */
export function showRuns() {
  const { parameters } = address();
  const columns = (parameters.get("columns") ?? "").split(",").filter((column) => Object.hasOwn(COLUMNS, column));
  const sort = parameters.get("sort") ?? DEFAULT_SORT;
  state = {
    query: parameters.get("q") ?? "",
    sort: sort in COLUMNS || sort === "id" ? sort : DEFAULT_SORT,
    descending: parameters.get("descending") !== null,
    columns: columns.length > 0 ? columns : DEFAULT_COLUMNS,
  };
  parts.query.value = state.query;
  update();
}

/** Put the cursor into the search field. */
export function focusSearch() {
  parts.query.focus();
  parts.query.select();
}

function setState(fields) {
  state = { ...state, ...fields };
  replaceAddress(tableAddress());
  update();
}

function update() {
  const turn = (pending += 1);
  find(turn).catch((problem) => fill(parts.table, alert(problem.message)));
}

async function find(turn) {
  const { matches, words, unknown } = parsed(state.query);
  const filtered = rows.filter((row) => matches({ ...row, label: labelOf(row.id).label }));
  const reading = (share) => turn === pending && share < 1 && (parts.status.textContent = `Reading transcripts: ${Math.round(share * 100)}%`);
  const found = await search(filtered, words, reading);
  if (turn !== pending) return; // the query has changed meanwhile
  selection = ordered(found);
  drawControls(unknown);
  drawTable(SHOWN);
}

/** By the chosen column; runs that are equal in it by score, lowest first. */
function ordered(some) {
  const value = state.sort === "id" ? (row) => row.id : COLUMNS[state.sort].value;
  const sign = state.descending ? -1 : 1;
  return [...some].sort((one, other) => compared(value(one), value(other), sign) || compared(one.score, other.score, 1));
}

function compared(a, b, sign) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1; // what is missing comes last in both directions
  if (b === null || b === undefined) return -1;
  return (a < b ? -1 : 1) * sign;
}

function drawControls(unknown) {
  fill(
    parts.quick,
    Object.entries(QUICK).map(([title, query]) =>
      element("button", { type: "button", "aria-pressed": state.query === query, onclick: () => quick(query) }, title),
    ),
  );
  const isOpen = parts.columns.open;
  fill(
    parts.columns,
    element("summary", {}, "Columns"),
    Object.entries(COLUMNS).map(([key, column]) =>
      element("label", {}, element("input", { type: "checkbox", checked: state.columns.includes(key), onchange: () => toggleColumn(key) }), ` ${column.title}`),
    ),
  );
  parts.columns.open = isOpen;
  const all = counted(rows.length, "run");
  const found = selection.length === rows.length ? all : `${count(selection.length)} of ${all}`;
  parts.status.textContent = unknown.length === 0 ? found : `${found}. Searched as text, because it is no condition: ${unknown.join(" ")}`;
}

function quick(query) {
  parts.query.value = state.query === query ? "" : query;
  setState({ query: parts.query.value });
}

function toggleColumn(key) {
  const columns = Object.keys(COLUMNS).filter((column) => (column === key) !== state.columns.includes(column));
  setState({ columns: columns.length > 0 ? columns : DEFAULT_COLUMNS });
}

function drawTable(shown) {
  const columns = [["id", { title: "Run" }], ...state.columns.map((key) => [key, COLUMNS[key]])];
  const head = columns.map(([key, column]) =>
    element(
      "th",
      { scope: "col", class: column.number ? "n" : null, "aria-sort": state.sort === key ? (state.descending ? "descending" : "ascending") : null },
      element("button", { type: "button", onclick: () => sortBy(key) }, column.title, state.sort === key ? (state.descending ? " ↓" : " ↑") : ""),
    ),
  );
  const body = selection.slice(0, shown).map((row) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, element("a", { href: addressOf("run", row.id) }, name(row.id)), element("span", { class: "task", dir: "auto" }, name(row.task))),
      state.columns.map((key) => {
        const cell = COLUMNS[key].cell(row);
        return element("td", { class: `${COLUMNS[key].number ? "n" : ""}${cell === "–" ? " quiet" : ""}`, "data-label": COLUMNS[key].title }, cell);
      }),
    ),
  );
  const left = selection.length - shown;
  fill(
    parts.table,
    selection.length === 0
      ? element("p", {}, "No run matches. Remove a condition, or press Escape in the search field to clear it.")
      : element("table", { class: "runs" }, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)),
    left > 0 && element("button", { type: "button", class: "more-rows", onclick: () => drawTable(shown + SHOWN) }, `Show ${count(Math.min(left, SHOWN))} more of ${count(left)} rows`),
  );
}

function sortBy(key) {
  setState(state.sort === key ? { descending: !state.descending } : { sort: key, descending: false });
}

function outcome(row) {
  const known = outcomeOf(row);
  if (known === "unknown") return "–";
  return known === "pass" ? "pass" : alert("fail");
}

/** The score less that of the same task in the other run, and a changed outcome. */
function change(row) {
  if (row.change === null && !row.turned) return "–";
  const score = row.change === null ? "" : `${row.change > 0 ? "+" : ""}${figure(row.change)}`;
  if (!row.turned) return row.change <= -CHANGE ? alert(score) : score;
  const turned = row.turned < 0 ? alert("now fails") : "now passes";
  return [element("a", { href: addressOf("compare", row.task_id) }, turned), ` ${score}`];
}

function worst(row) {
  if (row.worst === null) return "–";
  return element("a", { href: addressOf("run", row.id, { clip: row.worst_clip }) }, figure(row.worst));
}

function list(texts) {
  return texts.length === 0 ? "–" : texts.flatMap((text, index) => [index ? ", " : "", name(text)]);
}

function alert(text) {
  return element("span", { class: "alert" }, text);
}
