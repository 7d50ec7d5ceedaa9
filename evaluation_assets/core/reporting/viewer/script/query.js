// The query of the runs table: conditions such as `score<0.5 outcome:fail tool:search`, and words to search for.

import { labelWord } from "./labels.js";

const NUMBERS = new Set(["score", "change", "worst", "turns", "calls", "errors", "tokens", "cost", "seconds"]);
const LISTS = { tool: "tools", flag: "flags", violated: "violated", agent: "agents", model: "models" };
const EXACT = { type: "types", failed: "failed" };
const TEXTS = { id: "id", task: "task_id" };
const CONDITION = /^(-?)([a-z][a-z_.]*)(:|<=|>=|<|>|=)(.+)$/;
const TOKEN = /-?[a-z][a-z_.]*(?::|<=|>=|<|>|=)"[^"]*"|"[^"]*"|\S+/g;

const CLAUSE = /^-?[a-z]+(?:[:=]|[<>]=?)/;

/** Conditions on rows, and the words, in lower case, that the text has to hold. `unknown` look like conditions. */
export function parsed(query) {
  const conditions = [];
  const words = [];
  const unknown = [];
  for (const token of query.match(TOKEN) ?? []) {
    const condition = conditionOf(token);
    if (condition !== null) conditions.push(condition);
    else {
      if (CLAUSE.test(token) && !token.includes("://")) unknown.push(token);
      words.push(token.replaceAll('"', "").toLowerCase());
    }
  }
  return { matches: (row) => conditions.every((condition) => condition(row)), words: words.filter(Boolean), unknown };
}

function conditionOf(token) {
  const found = CONDITION.exec(token);
  if (found === null) return null;
  const [, not, field, operator, raw] = found;
  const value = raw.replaceAll('"', "");
  const condition = positive(field, operator, value);
  return condition !== null && not ? (row) => !condition(row) : condition;
}

function positive(field, operator, value) {
  if (NUMBERS.has(field)) {
    const limit = Number(value);
    if (Number.isNaN(limit)) return null;
    return (row) => row[field] !== null && compares(row[field], operator, limit);
  }
  if (operator !== ":") return ofCriterion(field, operator, Number(value));
  const wanted = value.toLowerCase();
  if (field === "outcome") return (row) => outcomeOf(row) === wanted;
  if (field in LISTS) return (row) => row[LISTS[field]].some((one) => one.toLowerCase().includes(wanted));
  if (field in EXACT) return (row) => row[EXACT[field]].some((one) => one.toLowerCase().replaceAll('"', "") === wanted);
  if (field in TEXTS) return (row) => row[TEXTS[field]].toLowerCase().includes(wanted);
  if (field === "label") return (row) => (labelWord(row.label) ?? "none") === wanted;
  return null;
}

/** A condition on the score of a criterion of trajectories or answers, such as `answer.accuracy<0.5`. */
function ofCriterion(field, operator, limit) {
  if (Number.isNaN(limit) || !/[._]/.test(field)) return null;
  return (row) => row.scores[field] !== undefined && compares(row.scores[field], operator, limit);
}

/** `pass`, `fail` or `unknown`: the test suite decides where there is one, else the outcome that was recorded. */
export function outcomeOf(row) {
  const outcome = row.passed ?? row.success;
  return outcome === null || outcome === undefined ? "unknown" : outcome ? "pass" : "fail";
}

function compares(value, operator, limit) {
  switch (operator) {
    case "<":
      return value < limit;
    case "<=":
      return value <= limit;
    case ">":
      return value > limit;
    case ">=":
      return value >= limit;
    default:
      return value === limit;
  }
}
