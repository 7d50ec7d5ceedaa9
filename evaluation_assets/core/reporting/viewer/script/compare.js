// This drop beside another run of the same tasks: which tasks came out differently, and the two transcripts of a task.

import { address, addressOf } from "./address.js";
import { trajectoryOf } from "./archive.js";
import { content } from "./content.js";
import { count, dollars, element, figure, fill, name, plain } from "./dom.js";
import { outcomeOf } from "./query.js";
import { TITLES } from "./transcript.js";

const CHANGE = 0.1;

/** The tasks that both sides have, those that changed first: outcomes that fell, outcomes that rose, then scores. */
export function pairedTasks(own, other) {
  const sides = [byTask(own), byTask(other)];
  const pairs = [...sides[0].keys()]
    .filter((task) => sides[1].has(task))
    .map((task) => {
      const [now, before] = sides.map((side) => summary(side.get(task)));
      return { task, now, before, outcome: difference(now.passed, before.passed), score: difference(now.score, before.score) };
    });
  return pairs.sort((one, two) => rank(one) - rank(two) || (one.outcome ?? 0) - (two.outcome ?? 0) || (one.score ?? 0) - (two.score ?? 0));
}

function rank(pair) {
  if (pair.outcome) return pair.outcome < 0 ? 0 : 1;
  return pair.score !== null && Math.abs(pair.score) >= CHANGE ? 2 : 3;
}

function byTask(rows) {
  const groups = new Map();
  for (const row of rows) groups.set(row.task_id, [...(groups.get(row.task_id) ?? []), row]);
  return groups;
}

function summary(rows) {
  const outcomes = rows.map(outcomeOf).filter((outcome) => outcome !== "unknown");
  return {
    rows,
    passed: mean(outcomes.map((outcome) => (outcome === "pass" ? 1 : 0))),
    score: mean(rows.map((row) => row.score)),
    calls: mean(rows.map((row) => row.calls)),
    cost: mean(rows.map((row) => row.cost)),
  };
}

function mean(values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function difference(now, before) {
  return now === null || before === null ? null : now - before;
}

/** Show the tasks, or the two runs that the address names. */
export async function showComparison(container, index) {
  const { argument, parameters } = address();
  if (index.other === null) {
    fill(container, element("h1", {}, "Compare"), element("p", {}, "There is no other run to compare with: the suite has no baseline and no earlier drop."));
    return;
  }
  const pairs = pairedTasks(index.rows, index.other.rows);
  const pair = argument === null ? undefined : pairs.find((one) => one.task === argument);
  if (pair === undefined) showTasks(container, index, pairs);
  else await showPair(container, index, pair, parameters);
}

// --- tasks -------------------------------------------------------------------------------------------------------

function showTasks(container, index, pairs) {
  const changed = pairs.filter((pair) => pair.outcome);
  const shown = pairs.filter((pair) => rank(pair) < 3);
  const fell = changed.filter((pair) => pair.outcome < 0).length;
  fill(
    container,
    element("h1", {}, "Compare with ", name(index.other.drop)),
    element("p", { class: "note" }, `${index.other.why[0].toUpperCase()}${index.other.why.slice(1)}. ${count(pairs.length)} tasks are in both runs: `,
      `${count(fell)} passed less often than before, ${count(changed.length - fell)} more often.`),
    shown.length === 0
      ? element("p", {}, `No task changed its outcome, and no score by ${CHANGE} or more.`)
      : element("div", { class: "scroll" }, element("table", { class: "runs" }, head(), element("tbody", {}, shown.map(taskRow)))),
    pairs.length > shown.length && element("p", { class: "note" }, `${count(pairs.length - shown.length)} tasks with the same outcome and a score within ${CHANGE} are not listed.`),
  );
}

function head() {
  const titles = ["Task", "Outcome", "Score", "Change", "Calls", "Cost"];
  return element("thead", {}, element("tr", {}, titles.map((title, place) => element("th", { scope: "col", class: place > 1 ? "n" : null }, title))));
}

function taskRow(pair) {
  const { before, now } = pair;
  const task = plain(now.rows[0].task);
  const cell = (title, text, isWorse = false) => element("td", { class: title === "Outcome" ? null : "n", "data-label": title }, isWorse ? element("span", { class: "alert" }, text) : text);
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("a", { href: addressOf("compare", pair.task) }, name(pair.task)), task !== pair.task && element("span", { class: "task", dir: "auto" }, task)),
    cell("Outcome", `${outcomeText(before)} → ${outcomeText(now)}`, pair.outcome !== null && pair.outcome < 0),
    cell("Score", `${figure(before.score)} → ${figure(now.score)}`),
    cell("Change", pair.score === null ? "–" : `${pair.score > 0 ? "+" : ""}${figure(pair.score)}`, pair.score !== null && pair.score <= -CHANGE),
    cell("Calls", `${figure(before.calls, 0)} → ${figure(now.calls, 0)}`),
    cell("Cost", `${dollars(before.cost)} → ${dollars(now.cost)}`),
  );
}

function outcomeText(side) {
  if (side.passed === null) return "–";
  if (side.rows.length === 1) return side.passed ? "pass" : "fail";
  return `${Math.round(side.passed * side.rows.length)} of ${side.rows.length}`;
}

// --- two runs ----------------------------------------------------------------------------------------------------

async function showPair(container, index, pair, parameters) {
  const choose = (side, key) => side.rows.find((row) => row.id === parameters.get(key)) ?? side.rows[0];
  const [before, now] = [choose(pair.before, "before"), choose(pair.now, "now")];
  const sides = [
    { title: index.other.drop, row: before, key: "before", rows: pair.before.rows },
    { title: index.drop, row: now, key: "now", rows: pair.now.rows },
  ];
  const [left, right] = await Promise.all([before, now].map((row) => (row.block === null ? null : trajectoryOf(row))));
  const chosen = (key, id) => addressOf("compare", pair.task, { before: before.id, now: now.id, [key]: id });
  const heading = (side) =>
    element(
      "header",
      {},
      element("h2", {}, name(side.title)),
      side.rows.length > 1 &&
        element("select", { "aria-label": `Run of ${plain(side.title)}`, onchange: (event) => (location.hash = chosen(side.key, event.target.value)) },
          side.rows.map((row) => element("option", { value: row.id, selected: row.id === side.row.id }, plain(row.id)))),
      element("p", { class: "note" }, `${outcomeOf(side.row)}, score ${figure(side.row.score)}, ${count(side.row.calls)} calls, ${count(side.row.errors)} failed, ${dollars(side.row.cost)}`),
    );
  fill(
    container,
    element("p", { class: "kind" }, element("a", { href: addressOf("compare") }, "← all tasks")),
    element("h1", {}, name(pair.task)),
    element("div", { class: "scroll" }, content(now.task)),
    element("div", { class: "sides" }, sides.map(heading)),
    left === null || right === null
      ? element("p", {}, "This task came out alike, so the transcript of the other run is only in its own report.")
      : aligned(left, right).map(([one, two]) => alignedRow(one, two)),
  );
}

/** The clips of two trajectories side by side: the same tools in the same order stand in one row. */
export function aligned(left, right) {
  const [one, two] = [left, right].map(clipsOf);
  const same = (a, b) => one[a].tool === two[b].tool;
  const lengths = Array.from({ length: one.length + 1 }, () => new Uint32Array(two.length + 1));
  for (let a = one.length - 1; a >= 0; a -= 1) {
    for (let b = two.length - 1; b >= 0; b -= 1) {
      lengths[a][b] = same(a, b) ? lengths[a + 1][b + 1] + 1 : Math.max(lengths[a + 1][b], lengths[a][b + 1]);
    }
  }
  const rows = [];
  let [a, b] = [0, 0];
  while (a < one.length || b < two.length) {
    if (a < one.length && b < two.length && same(a, b)) rows.push([one[a++], two[b++]]);
    else if (b === two.length || (a < one.length && lengths[a + 1][b] >= lengths[a][b + 1])) rows.push([one[a++], null]);
    else rows.push([null, two[b++]]);
  }
  return rows;
}

function clipsOf(trajectory) {
  const clips = trajectory.clips.map((clip) => ({ clip, items: [], tool: null }));
  let place = 0;
  for (const item of trajectory.items) {
    place = item.clip ?? place;
    if (item.kind === "text" || clips[place] === undefined) continue;
    clips[place].items.push(item);
    if (item.kind === "call") clips[place].tool = item.tool;
  }
  return clips;
}

function alignedRow(one, two) {
  const isEqual = one !== null && two !== null && textOfClip(one) === textOfClip(two);
  const title = (one ?? two).tool ?? "no call";
  const mark = isEqual ? "the same" : one === null ? "only now" : two === null ? "only before" : "different";
  return element(
    "details",
    { class: "aligned", open: !isEqual },
    element("summary", {}, name(title), " ", element("span", { class: isEqual ? "quiet" : "alert" }, mark), element("span", { class: "quiet" }, ` ${figure(one?.clip.score)} → ${figure(two?.clip.score)}`)),
    element("div", { class: "sides" }, [one, two].map((side) => element("div", {}, side === null ? null : side.items.map(shortItem)))),
  );
}

function textOfClip(side) {
  return side.items.map((item) => `${item.kind}\n${item.tool ?? ""}\n${item.text}`).join("\n");
}

function shortItem(item) {
  const failed = item.error !== undefined;
  return element("div", { class: `item ${item.kind}${failed ? " failed" : ""}` }, element("p", { class: "item-head" }, TITLES[item.kind], item.tool && element("b", {}, " ", name(item.tool)), failed && element("span", { class: "alert" }, " failed")), content(item.text));
}
