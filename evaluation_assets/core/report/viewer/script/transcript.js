// One trajectory: its transcript with every judge's verdicts beside each clip, and an outline.

import { address, addressOf, replaceAddress } from "./address.js";
import { trajectoryOf } from "./archive.js";
import { content } from "./content.js";
import { count, dollars, element, figure, fill, name, seconds } from "./dom.js";
import { labelForm, showLabels, toggleLabel } from "./label_form.js";
import { lanes, laneOf } from "./lanes.js";
import { isError, outline } from "./outline.js";
import { outcomeOf } from "./query.js";
import { isBlind, isReview, reviewAddress } from "./review.js";
import { clipTitle, clipVerdicts, verdictList } from "./verdicts.js";

const PAGE = 150;
const KINDS = { thought: "reasoning", call: "tools", result: "tools", message: "messages", user: "messages", text: "raw text" };
const HIDDEN_AT_FIRST = new Set(["raw text"]);
/** Names of the kinds of items. */
export const TITLES = { user: "User", thought: "Reasoning", message: "Message", call: "Tool call", result: "Result", text: "Raw text" };

let shown = null;
const hidden = new Set(HIDDEN_AT_FIRST);

/** Show the trajectory of a row; the address may name an item or a clip. */
export async function showTrajectory(container, row, list) {
  shown = null;
  fill(container, element("p", { class: "note", role: "status" }, "Opening…"));
  const trajectory = await trajectoryOf(row);
  if (address().argument !== row.id) return; // another one was opened meanwhile
  const items = trajectory.items.map((item, number) => ({ ...item, number }));
  shown = { container, row, trajectory, items, list, blind: false, current: -1, from: 0, to: 0, body: element("div", { class: "transcript" }) };
  drawPage();
  const { parameters } = address();
  const item = numberOf(parameters.get("item"));
  const clip = numberOf(parameters.get("clip"));
  if (item !== null && item < items.length) goTo(item);
  else if (clip !== null) goTo(items.findIndex((one) => one.clip === clip && one.kind !== "text"));
  else draw(0, PAGE);
}

function drawPage() {
  shown.blind = isBlind(shown.row.id);
  const side = outline(shown.trajectory, shown.items, shown.blind, itemLink, speaker);
  fill(shown.container, heading(), element("div", { class: "desk" }, side, shown.body));
}

/** Go to the next (1) or previous (-1) item that is visible and meets a condition. */
export function move(direction, condition = () => true) {
  if (shown === null) return;
  for (let number = shown.current + direction; number >= 0 && number < shown.items.length; number += direction) {
    const item = shown.items[number];
    if (isVisible(item) && condition(item)) {
      goTo(number);
      return;
    }
  }
}

/** Label the open trajectory, or the clip of the current step. A label given twice is removed. */
export function labelShown(label, ofClip) {
  if (shown === null) return;
  const clip = ofClip ? (shown.items[shown.current]?.clip ?? null) : null;
  if (!ofClip || clip !== null) toggleLabel(shown.row.id, clip, label);
}

/** Show the labels of the open trajectory as they are now, and what was hidden until there was one. */
export function updateLabels() {
  if (shown === null) return;
  if (shown.blind !== isBlind(shown.row.id)) {
    const active = document.activeElement?.dataset?.field;
    drawPage();
    draw(shown.from, shown.to);
    if (active !== undefined) shown.container.querySelector(`.label-form[data-clip=""] [data-field=${active}]`)?.focus();
  } else showLabels(shown.row.id);
}

function numberOf(text) {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}

function isVisible(item) {
  return !hidden.has(KINDS[item.kind]);
}

function itemAddress(number) {
  return addressOf("run", shown.row.id, { item: number, review: isReview() ? 1 : null });
}

function itemLink(item, ...text) {
  const go = (event) => {
    event.preventDefault();
    goTo(item.number);
  };
  return element("a", { href: itemAddress(item.number), onclick: go }, text);
}

/** Go to an item, or to the next visible one where it is hidden. */
function goTo(wanted) {
  const number = wanted < 0 ? -1 : shown.items.findIndex((item) => item.number >= wanted && isVisible(item));
  if (number < 0) {
    draw(0, PAGE);
    return;
  }
  if (number < shown.from || number >= shown.to) draw(Math.max(0, number - 20), number + PAGE);
  shown.body.querySelector("[aria-current]")?.removeAttribute("aria-current");
  shown.current = number;
  const target = document.getElementById(`item-${number}`);
  replaceAddress(itemAddress(number));
  if (target === null) return;
  target.setAttribute("aria-current", "step");
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "start" });
}

// --- heading -----------------------------------------------------------------------------------------------------

function heading() {
  const { row, trajectory, list, blind } = shown;
  const place = list.findIndex((one) => one.id === row.id);
  const [before, after] = [list[place - 1], place < 0 ? undefined : list[place + 1]];
  const beside = (id) => (isReview() ? reviewAddress(id) : addressOf("run", id));
  return element(
    "header",
    { class: "run" },
    element(
      "p",
      { class: "kind" },
      before && element("a", { href: beside(before.id), title: "Previous run ([)" }, "← previous "),
      place >= 0 && `${count(place + 1)} of ${count(list.length)} ${isReview() ? "in the review queue " : ""}`,
      after && element("a", { href: beside(after.id), title: "Next run (])" }, "next →"),
    ),
    element("h1", {}, name(row.id)),
    element("dl", { class: "about" }, Object.entries(facts()).map(([title, value]) => element("div", {}, element("dt", {}, title), " ", element("dd", {}, name(value))))),
    trajectory.task && element("details", { class: "given", open: trajectory.task.length < 600 }, element("summary", {}, "Task"), content(trajectory.task, trajectory.images)),
    trajectory.reference_answer && element("details", { class: "given" }, element("summary", {}, "Expected answer"), content(trajectory.reference_answer, trajectory.images)),
    trajectory.final_answer && element("details", { class: "given" }, element("summary", {}, "Final answer"), content(trajectory.final_answer, trajectory.images)),
    trajectory.agents.filter((agent) => agent.system).map((agent) =>
      element("details", { class: "given" }, element("summary", {}, "System prompt of ", name(agent.name ?? agent.id)), content(agent.system)),
    ),
    blind ? element("p", { class: "note" }, "Outcome, scores and verdicts appear once you have labelled this run.") : verdictList("Verdicts on the whole run", trajectory.verdicts),
    !blind && trajectory.findings.length > 0 && issues(trajectory, "Findings", trajectory.findings, (one) => [one.title, one.severity, one.evidence]),
    !blind && trajectory.claims.length > 0 && issues(trajectory, "Claims", trajectory.claims, (one) => [one.verdict.replace("_", " "), one.by, one.claim], false),
    !blind && trajectory.violations.length > 0 && issues(trajectory, "Violated constraints", trajectory.violations, violation),
    source(trajectory),
    lanes(trajectory, shown.items),
    element("fieldset", { class: "shown" }, element("legend", {}, "Show"), [...new Set(Object.values(KINDS))].map(toggleKind)),
    labelForm(row.id, null, ["p", "f"]),
  );
}

function facts() {
  const { row, trajectory, blind } = shown;
  const outcome = outcomeOf(row);
  return {
    ...(blind ? {} : { outcome: outcome === "unknown" ? "–" : outcome, score: figure(row.score) }),
    calls: `${count(row.calls)}${row.errors ? `, ${count(row.errors)} failed` : ""}`,
    tokens: count(row.tokens),
    cost: `${dollars(row.cost)}${trajectory.usage?.list_price ? " at list prices" : ""}`,
    time: seconds(row.seconds),
    format: trajectory.format,
    ...(trajectory.trace_id ? { trace: trajectory.trace_id } : {}),
    ...(row.flags.length > 0 && !blind ? { flags: row.flags.join(", ") } : {}),
    ...(trajectory.error && !blind ? { error: trajectory.error } : {}),
  };
}

/** Entries about the run, with links to the calls and, once for each group, to runs like this one; `told` gives name, severity and text of an entry. */
function issues(trajectory, title, entries, told, open = true) {
  const entry = (one, at) => {
    const [called, severity, text] = told(one);
    return element(
      "li",
      {},
      element("b", {}, name(called)),
      ` ${severity} `,
      one.clip !== null && element("a", { href: addressOf("run", trajectory.id, { clip: one.clip }) }, `clip ${one.clip}${trajectory.clips[one.clip]?.tool_type === "final" ? ", the end" : ""}`),
      one.group && entries.findIndex((other) => other.group === one.group) === at && [" ", element("a", { href: addressOf("runs", null, { q: `group:${one.group}` }) }, `${count(one.others)} more like this`)],
      element("small", { dir: "auto" }, text),
    );
  };
  return element("details", { class: "given", open }, element("summary", {}, title), element("ul", { class: "issues" }, entries.map(entry)));
}

function violation(one) {
  return [one.constraint, one.severity, `${one.rule}: ${one.message}${one.n_violations > 1 ? ` (${count(one.n_violations)} violations)` : ""}`];
}

/** Where the trajectory stands in the files of the drop. */
function source(trajectory) {
  const from = trajectory.source;
  if (!from) return null;
  const range = from.start === null || from.start === undefined ? "" : `, bytes ${count(from.start)} to ${count(from.end)}`;
  return element("details", { class: "given" }, element("summary", {}, "Source"), element("p", {}, name(from.file), range), from.sha256 && element("p", { class: "note" }, "SHA-256 ", element("code", {}, from.sha256)));
}

function toggleKind(group) {
  const flip = () => {
    if (!hidden.delete(group)) hidden.add(group);
    draw(shown.from, shown.to);
  };
  return element("label", {}, element("input", { type: "checkbox", checked: !hidden.has(group), onchange: flip }), ` ${group}`);
}

function speaker(item) {
  return item.agent && shown.trajectory.agents.length > 1 ? name(agentName(item.agent)) : TITLES[item.kind];
}

function agentName(id) {
  const agent = shown.trajectory.agents.find((one) => one.id === id);
  return agent?.name ?? id;
}

// --- transcript --------------------------------------------------------------------------------------------------

function draw(from, to) {
  shown.from = Math.max(0, from);
  shown.to = Math.min(shown.items.length, to);
  const groups = [];
  for (const item of shown.items.slice(shown.from, shown.to)) {
    const clip = item.clip ?? null;
    if (groups.length === 0 || (clip !== null && groups.at(-1).clip !== null && groups.at(-1).clip !== clip)) groups.push({ clip, items: [] });
    if (groups.at(-1).clip === null) groups.at(-1).clip = clip;
    groups.at(-1).items.push(item);
  }
  const earlier = shown.from;
  const later = shown.items.length - shown.to;
  fill(
    shown.body,
    earlier > 0 && element("button", { type: "button", class: "more-rows", onclick: () => draw(shown.from - PAGE, shown.to) }, `Show earlier items (${count(earlier)})`),
    groups.map(clipSection),
    later > 0 && element("button", { type: "button", class: "more-rows", onclick: () => draw(shown.from, shown.to + PAGE) }, `Show later items (${count(later)})`),
  );
}

function clipSection(group) {
  const clip = group.clip === null ? null : shown.trajectory.clips[group.clip];
  const items = group.items.filter(isVisible);
  if (items.length === 0) return null;
  return element(
    "section",
    { class: "clip-section" },
    element("div", { class: "items" }, items.map(itemBlock)),
    clip &&
      element(
        "aside",
        { "aria-label": `Verdicts on clip ${clip.index}` },
        shown.blind ? element("h2", {}, clipTitle(clip)) : clipVerdicts(clip),
        labelForm(shown.row.id, clip.index, ["P", "F"]),
      ),
  );
}

function itemBlock(item) {
  const usage = item.usage ?? {};
  const tokens = usage.input ?? usage.output ?? null;
  const figures = [
    item.ms !== undefined && seconds(item.ms / 1000),
    tokens !== null && `${count((usage.input ?? 0) + (usage.output ?? 0))} tokens`,
    usage.cost !== undefined && usage.cost !== null && `${dollars(usage.cost)}${usage.list_price ? " at list price" : ""}`,
  ].filter(Boolean);
  const isOneOfSeveral = item.agent && shown.trajectory.agents.length > 1;
  return element(
    "article",
    { id: `item-${item.number}`, class: `item ${item.kind}${isError(item) ? " failed" : isOneOfSeveral ? ` ${laneOf(shown.trajectory, item.agent)}` : ""}`, tabindex: "-1" },
    element(
      "p",
      { class: "item-head" },
      element("a", { href: itemAddress(item.number), title: "Link to this step" }, TITLES[item.kind]),
      item.tool && element("b", {}, " ", name(item.server ? `${item.server}.${item.tool}` : item.tool)),
      isOneOfSeveral && element("span", { class: "quiet" }, " ", name(agentName(item.agent))),
      isError(item) && element("span", { class: "alert" }, " failed: ", name(item.error.slice(0, 300))),
      figures.length > 0 && element("span", { class: "quiet figures" }, ` ${figures.join(", ")}`),
    ),
    content(item.text, item.images),
  );
}
