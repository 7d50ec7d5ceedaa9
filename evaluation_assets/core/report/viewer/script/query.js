// The query of the runs table: conditions such as `score<0.5 outcome:fail tool:search`, and words to search for.

import { labelWord } from "./labels.js";

const NUMBERS = new Set(["score", "change", "worst", "turns", "calls", "errors", "tokens", "cost", "seconds"]);
const LISTS = { tool: "tools", flag: "flags", violated: "violated", agent: "agents", model: "models" };
const EXACT = { type: "types", failed: "failed", failed_type: "failed_types" };
const WORD_FIELDS = new Set(["agent_id", "answer", "category", "completed", "constraint", "finding", "goal", "group", "model_used", "pattern", "project", "tests", "verdict"]);
const OUTCOME_FIELDS = { recorded: "success", suite: "passed" };
const TEXTS = { id: "id", task: "task_id" };
const CONDITION = /^(-?)([a-z][A-Za-z0-9_.-]*)(:|<=|>=|<|>|=)(.+)$/;
const TOKEN = /-?[a-z][A-Za-z0-9_.-]*(?::|<=|>=|<|>|=)"[^"]*"|"[^"]*"|\S+/g;

const CLAUSE = /^-?[a-z]+(?:[:=]|[<>]=?)/;

/** The text for comparison: two that read the same are equal, however their characters are written. As in Python. */
export function folded(text) {
  return text.normalize("NFKC").toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
}

/** Conditions on rows, and the words, folded, that the text has to hold. `unknown` look like conditions. */
export function parsed(query) {
  const conditions = [];
  const words = [];
  const unknown = [];
  for (const token of query.match(TOKEN) ?? []) {
    const condition = conditionOf(token);
    if (condition !== null) conditions.push(condition);
    else {
      if (CLAUSE.test(token) && !token.includes("://")) unknown.push(token);
      words.push(folded(token.replaceAll('"', "")));
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
  const wanted = folded(value);
  if (field === "outcome") return (row) => outcomeOf(row) === wanted;
  if (Object.hasOwn(OUTCOME_FIELDS, field)) return (row) => outcomeWord(row[OUTCOME_FIELDS[field]]) === wanted;
  if (Object.hasOwn(LISTS, field)) return (row) => row[LISTS[field]].some((one) => folded(one).includes(wanted));
  if (Object.hasOwn(EXACT, field)) return (row) => row[EXACT[field]].some((one) => folded(one).replaceAll('"', "") === wanted);
  if (WORD_FIELDS.has(field)) return (row) => (row.words[field] ?? []).some((one) => isWithin(folded(one).replaceAll('"', ""), wanted));
  if (Object.hasOwn(TEXTS, field)) return (row) => folded(row[TEXTS[field]]).includes(wanted);
  if (field === "label") return (row) => (labelWord(row.label) ?? "none") === wanted;
  return null;
}

/** Whether a word is the wanted one, or begins with its parts: `rules/clip` has `rules/clip/scored` within. */
function isWithin(word, wanted) {
  return word === wanted || word.startsWith(`${wanted}/`);
}

/** A condition on a figure of a run that has a name, such as `answer.accuracy<0.5` or `coding.edits>0`. */
function ofCriterion(field, operator, limit) {
  if (Number.isNaN(limit) || !/[._]/.test(field)) return null;
  const name = field.replace(/^trajectory\./, "");
  return (row) => row.scores[name] !== undefined && compares(row.scores[name], operator, limit);
}

/** `pass`, `fail` or `unknown`: the test suite decides where there is one, else the outcome that was recorded. */
export function outcomeOf(row) {
  return outcomeWord(row.passed ?? row.success);
}

function outcomeWord(outcome) {
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
