// Two sides of the same tasks, such as this drop and the baseline: tasks that changed, and the two transcripts of one.

import { address, addressOf } from "./address.js";
import { trajectoryOf } from "./archive.js";
import { command } from "./commands.js";
import { content } from "./content.js";
import { count, counted, dollars, element, figure, fill, name, plain } from "./dom.js";
import { CHANGE, byTask, difference, pairedTasks, rank, sidesOf, taskSummary } from "./pairs.js";
import { outcomeOf } from "./query.js";
import { TITLES } from "./transcript.js";

/** Give every row its change against the same task in the other run: `change` of the score, `turned` of the outcome. */
export function attachChanges(index) {
  const others = new Map([...byTask(index.other?.rows ?? [])].map(([task, rows]) => [task, taskSummary(rows)]));
  for (const row of index.rows) {
    const before = others.get(row.task_id);
    const now = before && taskSummary([row]);
    row.change = before ? difference(now.score, before.score) : null;
    row.turned = before ? (difference(now.passed, before.passed) ?? 0) : 0;
  }
}

/** Show the tasks, or the two runs that the address names. */
export async function showComparison(container, index) {
  const { argument, parameters } = address();
  const sides = sidesOf(index);
  if (sides.length < 2) {
    fill(container, element("h1", {}, "Compare"), element("p", {}, "There is nothing to compare with: the suite has no baseline and no earlier drop, and this drop has one agent. Choose another drop, instead of OTHER: ", element("code", {}, command("open", index.drop, "--against", "OTHER"))));
    return;
  }
  const byAgents = index.other === null && sides.length > 2;
  const chosen = (key, place) => sides.find((side) => side.key === parameters.get(key)) ?? sides[place];
  const left = chosen("left", byAgents ? 1 : 0);
  const right = chosen("right", byAgents ? 2 : 1);
  const pairs = pairedTasks(right.rows, left.rows);
  const pair = argument === null ? undefined : pairs.find((one) => one.task === argument);
  if (pair === undefined) showTasks(container, index, sides, left, right, pairs);
  else await showPair(container, left, right, pair, parameters);
}

/** The parameters of an address that choose the sides. */
function sidesIn(left, right) {
  return { left: left.key === "before" ? null : left.key, right: right.key === "now" ? null : right.key };
}

// --- tasks -------------------------------------------------------------------------------------------------------

function showTasks(container, index, sides, left, right, pairs) {
  const changed = pairs.filter((pair) => pair.outcome);
  const listed = pairs.filter((pair) => rank(pair) < 3);
  const fell = changed.filter((pair) => pair.outcome < 0).length;
  const why = left.key === "before" && [name(left.title), `: ${index.other.why}. `];
  fill(
    container,
    element("h1", {}, "Compare ", name(right.title), " with ", name(left.title)),
    sides.length > 2 && element("p", { class: "quick" }, chooser("left", "Left side", sides, left, { right: right.key }), chooser("right", "Right side", sides, right, { left: left.key })),
    element("p", { class: "note" }, why, `Of ${counted(pairs.length, "task")} in both, ${count(fell)} passed less often in `, name(right.title), `, ${count(changed.length - fell)} more often.`),
    listed.length === 0
      ? element("p", {}, `No task changed its outcome, and no score by ${CHANGE} or more.`)
      : element("div", { class: "scroll" }, element("table", { class: "runs" }, head(), element("tbody", {}, listed.map((pair) => taskRow(pair, left, right))))),
    pairs.length > listed.length && element("p", { class: "note" }, `Not listed: ${counted(pairs.length - listed.length, "task")} with the same outcome and a score within ${CHANGE}.`),
    taskMap(sides.filter((side) => side.key !== "now" || sides.length === 2 || index.other !== null)),
  );
}

function chooser(key, title, sides, current, others) {
  return element("label", {}, `${title} `, element("select", { onchange: (event) => (location.hash = addressOf("compare", null, { ...others, [key]: event.target.value })) },
    sides.map((side) => element("option", { value: side.key, selected: side === current }, plain(side.title)))));
}

const MAPPED = 500;
const OPEN = 30;

/** All tasks by side: the share that passed, or the score where no outcome is known. */
function taskMap(sides) {
  const columns = sides.map((side) => byTask(side.rows));
  const tasks = [...new Set(columns.flatMap((column) => [...column.keys()]))].filter((task) => columns.filter((column) => column.has(task)).length > 1);
  const cell = (column, side, task) => {
    const rows = column.get(task);
    if (rows === undefined) return element("td", { class: "n quiet", "data-label": plain(side.title) }, "–");
    const { passed, known, score } = taskSummary(rows);
    const value = passed ?? score;
    const text = passed === null ? figure(score) : outcomeText({ passed, known, rows });
    return element("td", { class: `n${value === null ? "" : ` heat-${Math.min(4, Math.floor(value * 5))}`}`, "data-label": plain(side.title) }, text);
  };
  return element(
    "details",
    { class: "more", open: tasks.length <= OPEN },
    element("summary", {}, tasks.length === 1 ? "The task" : `All ${count(tasks.length)} tasks`),
    element("div", { class: "scroll" }, element("table", { class: "runs" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Task"), sides.map((side) => element("th", { scope: "col", class: "n" }, name(side.title))))),
      element("tbody", {}, tasks.slice(0, MAPPED).map((task) => element("tr", {}, element("th", { scope: "row" }, element("a", { href: addressOf("compare", task) }, name(task))), columns.map((column, place) => cell(column, sides[place], task))))))),
    tasks.length > MAPPED && element("p", { class: "note" }, `Not shown here: ${counted(tasks.length - MAPPED, "more task")}.`),
  );
}

function head() {
  const titles = ["Task", "Outcome", "Overall score", "Change", "Calls", "Cost"];
  return element("thead", {}, element("tr", {}, titles.map((title, place) => element("th", { scope: "col", class: place > 1 ? "n" : null }, title))));
}

function taskRow(pair, left, right) {
  const { before, now } = pair;
  const task = plain(now.rows[0].task);
  const cell = (title, text, isWorse = false) => element("td", { class: title === "Outcome" ? null : "n", "data-label": title }, isWorse ? element("span", { class: "alert" }, text) : text);
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("a", { href: addressOf("compare", pair.task, sidesIn(left, right)) }, name(pair.task)), task !== pair.task && element("span", { class: "task", dir: "auto" }, task), otherPrompt(pair)),
    cell("Outcome", `${outcomeText(before)} → ${outcomeText(now)}`, pair.outcome !== null && pair.outcome < 0),
    cell("Overall score", `${figure(before.score)} → ${figure(now.score)}`),
    cell("Change", pair.score === null ? "–" : `${pair.score > 0 ? "+" : ""}${figure(pair.score)}`, pair.score !== null && pair.score <= -CHANGE),
    cell("Calls", `${figure(before.calls, 0)} → ${figure(now.calls, 0)}`),
    cell("Cost", `${dollars(before.cost)} → ${dollars(now.cost)}`),
  );
}

/** A warning where a task is not the same on both sides. */
function otherPrompt(pair) {
  return !pair.isSamePrompt && element("span", { class: "task alert" }, "the prompt differs between the sides");
}

function outcomeText(side) {
  if (side.passed === null) return "–";
  if (side.rows.length === 1) return side.passed ? "pass" : "fail";
  return `${Math.round(side.passed * side.known)} of ${side.known}`;
}

// --- two runs ----------------------------------------------------------------------------------------------------

async function showPair(container, left, right, pair, parameters) {
  const choose = (side, key, outcome) => side.rows.find((row) => row.id === parameters.get(key)) ?? side.rows.find((row) => outcomeOf(row) === outcome) ?? side.rows[0];
  const turned = { "-1": ["pass", "fail"], 1: ["fail", "pass"] }[Math.sign(pair.outcome ?? 0)] ?? [];
  const [before, now] = [choose(pair.before, "before", turned[0]), choose(pair.now, "now", turned[1])];
  const sides = [
    { title: left.title, row: before, key: "before", rows: pair.before.rows },
    { title: right.title, row: now, key: "now", rows: pair.now.rows },
  ];
  const [one, two] = await Promise.all([before, now].map((row) => (row.block === null ? null : trajectoryOf(row))));
  const chosen = (key, id) => addressOf("compare", pair.task, { ...sidesIn(left, right), before: before.id, now: now.id, [key]: id });
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
    element("p", { class: "kind" }, element("a", { href: addressOf("compare", null, sidesIn(left, right)) }, "← all tasks")),
    element("h1", {}, name(pair.task)),
    element("div", { class: "scroll" }, content(now.task)),
    !pair.isSamePrompt && element("p", {}, otherPrompt(pair), `; on the left, ${name(left.title).textContent}:`),
    !pair.isSamePrompt && element("div", { class: "scroll" }, content(before.task)),
    element("div", { class: "sides" }, sides.map(heading)),
    one === null || two === null
      ? element("p", {}, "This task came out alike, so the transcript of the other run is only in its own report.")
      : aligned(one, two).map(([before, now]) => alignedRow(before, now)),
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
  return element("div", { class: `item ${item.kind}${failed ? " failed" : ""}` }, element("p", { class: "item-head" }, TITLES[item.kind], item.tool && element("b", {}, " ", name(item.tool)), failed && element("span", { class: "alert" }, " failed")), content(item.text, item.images));
}
