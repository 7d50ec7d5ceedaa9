// The same tasks in two runs, or of two agents: how outcome, score, calls and cost changed.

import { outcomeOf } from "./query.js";

/** Smallest change of a mean score that is listed. */
export const CHANGE = 0.1;

/** What can be compared: this drop, the other run, and the agents and models of this drop if it has several. */
export function sidesOf(index) {
  const runs = [{ key: "now", title: index.drop, rows: index.rows }];
  if (index.other !== null) runs.unshift({ key: "before", title: index.other.drop, rows: index.other.rows });
  return [...runs, ...partsOf(index, "agent", (row) => row.agents), ...partsOf(index, "model", (row) => row.models)];
}

/** The agents or models of a drop that share tasks with another one; none where all runs have the same. */
function partsOf(index, kind, namesOf) {
  const parts = groups(index.rows, (row) => namesOf(row).join(" + "));
  if (parts.size < 2) return [];
  const sides = [...parts].map(([title, rows]) => ({ key: `${kind}:${title}`, title: title === "" ? `no ${kind} named` : title, rows }));
  const tasks = sides.map((side) => new Set(side.rows.map((row) => row.task_id)));
  return sides.filter((_, one) => tasks.some((other, two) => one !== two && [...tasks[one]].some((task) => other.has(task))));
}

/** The tasks that both sides have, those that changed first: outcomes that fell, outcomes that rose, then scores. */
export function pairedTasks(own, other) {
  const sides = [byTask(own), byTask(other)];
  const pairs = [...sides[0].keys()]
    .filter((task) => sides[1].has(task))
    .map((task) => {
      const [now, before] = sides.map((side) => taskSummary(side.get(task)));
      const isSamePrompt = promptsOf(now.rows) === promptsOf(before.rows);
      return { task, now, before, isSamePrompt, outcome: difference(now.passed, before.passed), score: difference(now.score, before.score) };
    });
  return pairs.sort((one, two) => rank(one) - rank(two) || (one.outcome ?? 0) - (two.outcome ?? 0) || (one.score ?? 0) - (two.score ?? 0));
}

/** 0 for outcomes that fell, 1 for those that rose, 2 for changed scores, 3 for the rest. */
export function rank(pair) {
  if (pair.outcome) return pair.outcome < 0 ? 0 : 1;
  return pair.score !== null && Math.abs(pair.score) >= CHANGE ? 2 : 3;
}

/** Rows by their task. */
export function byTask(rows) {
  return groups(rows, (row) => row.task_id);
}

function promptsOf(rows) {
  return [...new Set(rows.map((row) => row.task))].sort().join("\n");
}

/** What the runs of a task came to; null where nothing is known. `passed` is the share that passed of the `known`. */
export function taskSummary(rows) {
  const outcomes = rows.map(outcomeOf).filter((outcome) => outcome !== "unknown");
  return {
    rows,
    known: outcomes.length,
    passed: mean(outcomes.map((outcome) => (outcome === "pass" ? 1 : 0))),
    score: mean(rows.map((row) => row.score)),
    calls: mean(rows.map((row) => row.calls)),
    cost: mean(rows.map((row) => row.cost)),
  };
}

/** The change from `before` to `now`; null where one is unknown. */
export function difference(now, before) {
  return now === null || before === null ? null : now - before;
}

function mean(values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function groups(rows, keyOfRow) {
  const found = new Map();
  for (const row of rows) {
    if (!found.has(keyOfRow(row))) found.set(keyOfRow(row), []);
    found.get(keyOfRow(row)).push(row);
  }
  return found;
}
