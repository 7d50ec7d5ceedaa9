// One trajectory: its transcript with every judge's verdicts beside each clip, and an outline.

import { address, addressOf, replaceAddress } from "./address.js";
import { trajectoryOf } from "./archive.js";
import { content } from "./content.js";
import { count, dollars, element, figure, fill, name, plain, seconds } from "./dom.js";
import { labelOf, setLabel } from "./labels.js";
import { outcomeOf } from "./query.js";

const PAGE = 150;
const LOW = 0.5;
const KINDS = { thought: "reasoning", call: "tools", result: "tools", message: "messages", user: "messages", text: "raw text" };
const HIDDEN_AT_FIRST = new Set(["raw text"]);
/** Names of the kinds of items. */
export const TITLES = { user: "User", thought: "Reasoning", message: "Message", call: "Tool call", result: "Result", text: "Raw text" };
const OUTCOMES = { scored: "scored", abstained: "abstained", failed: "failed", not_run: "not run" };

let shown = null;
const hidden = new Set(HIDDEN_AT_FIRST);

/** Show the trajectory of a row; the address may name an item or a clip. */
export async function showTrajectory(container, row, list) {
  fill(container, element("p", { class: "note", role: "status" }, "Opening…"));
  const trajectory = await trajectoryOf(row);
  if (address().argument !== row.id) return; // another one was opened meanwhile
  const items = trajectory.items.map((item, number) => ({ ...item, number }));
  shown = { row, trajectory, items, current: -1, from: 0, to: 0, body: element("div", { class: "transcript" }) };
  fill(container, heading(row, trajectory, list), element("div", { class: "desk" }, outline(), shown.body), kept());
  const { parameters } = address();
  const item = numberOf(parameters.get("item"));
  const clip = numberOf(parameters.get("clip"));
  if (item !== null && item < items.length) goTo(item);
  else if (clip !== null) goTo(items.findIndex((one) => one.clip === clip && one.kind !== "text"));
  else draw(0, PAGE);
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

/** Whether an item is a failed call's result. */
export function isError(item) {
  return item.kind === "result" && item.error !== undefined;
}

/** Label the open trajectory. A label given twice is removed. */
export function labelShown(label) {
  if (shown === null) return;
  const before = labelOf(shown.row.id).label;
  setLabel(shown.row.id, { label: before === label ? null : label });
}

function numberOf(text) {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}

function isVisible(item) {
  return !hidden.has(KINDS[item.kind]);
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
  replaceAddress(addressOf("run", shown.row.id, { item: number }));
  if (target === null) return;
  target.setAttribute("aria-current", "step");
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "start" });
}

// --- heading -----------------------------------------------------------------------------------------------------

function heading(row, trajectory, list) {
  const place = list.findIndex((one) => one.id === row.id);
  const [before, after] = [list[place - 1], place < 0 ? undefined : list[place + 1]];
  const outcome = outcomeOf(row);
  const facts = {
    outcome: outcome === "unknown" ? "–" : outcome,
    score: figure(row.score),
    calls: `${count(row.calls)}${row.errors ? `, ${count(row.errors)} failed` : ""}`,
    tokens: count(row.tokens),
    cost: dollars(row.cost),
    time: seconds(row.seconds),
    format: trajectory.format,
    ...(trajectory.trace_id ? { trace: trajectory.trace_id } : {}),
    ...(row.flags.length > 0 ? { flags: row.flags.join(", ") } : {}),
  };
  return element(
    "header",
    { class: "run" },
    element(
      "p",
      { class: "kind" },
      before && element("a", { href: addressOf("run", before.id), title: "Previous trajectory ([)" }, "← previous "),
      place >= 0 && `${count(place + 1)} of ${count(list.length)} `,
      after && element("a", { href: addressOf("run", after.id), title: "Next trajectory (])" }, "next →"),
    ),
    element("h1", {}, name(row.id)),
    element("dl", { class: "about" }, Object.entries(facts).map(([title, value]) => element("div", {}, element("dt", {}, title), " ", element("dd", {}, name(value))))),
    trajectory.task && element("details", { class: "given", open: trajectory.task.length < 600 }, element("summary", {}, "Task"), content(trajectory.task)),
    trajectory.reference_answer && element("details", { class: "given" }, element("summary", {}, "Expected answer"), content(trajectory.reference_answer)),
    trajectory.final_answer && element("details", { class: "given" }, element("summary", {}, "Final answer"), content(trajectory.final_answer)),
    trajectory.agents.filter((agent) => agent.system).map((agent) =>
      element("details", { class: "given" }, element("summary", {}, "System prompt of ", name(agent.name ?? agent.id)), content(agent.system)),
    ),
    verdictsOf("Verdicts on the whole trajectory", trajectory.verdicts),
    element("fieldset", { class: "shown" }, element("legend", {}, "Show"), [...new Set(Object.values(KINDS))].map(toggleKind)),
    labelForm(row),
  );
}

function toggleKind(group) {
  const flip = () => {
    if (!hidden.delete(group)) hidden.add(group);
    draw(shown.from, shown.to);
  };
  return element("label", {}, element("input", { type: "checkbox", checked: !hidden.has(group), onchange: flip }), ` ${group}`);
}

function labelForm(row) {
  const label = labelOf(row.id);
  const choice = (value, key) =>
    element("button", { type: "button", "data-label": value, "aria-pressed": label.label === value, title: `${value} (${key})`, onclick: () => labelShown(value) }, value);
  return element(
    "div",
    { class: "label-form", id: "label-form" },
    element("span", {}, "Your label: "),
    choice("pass", "p"),
    choice("fail", "f"),
    element("input", { type: "text", "aria-label": "Comment", placeholder: "Comment", value: label.comment, onchange: (event) => setLabel(row.id, { comment: event.target.value }) }),
  );
}

/** Show the label of the open trajectory as it is now. */
export function updateLabel() {
  if (shown === null) return;
  for (const button of document.querySelectorAll("#label-form [data-label]")) {
    button.setAttribute("aria-pressed", String(labelOf(shown.row.id).label === button.dataset.label));
  }
}

// --- outline -----------------------------------------------------------------------------------------------------

const OUTLINE = 400;

function outline() {
  const entries = shown.items.filter((item) => item.kind === "user" || item.kind === "call" || item.kind === "message" || isError(item));
  const clips = shown.trajectory.clips;
  const lines = entries.slice(0, OUTLINE).map((item) => {
    const score = item.kind === "call" && item.clip !== null && item.clip !== undefined ? clips[item.clip]?.score : null;
    const isLow = score !== null && score !== undefined && score < LOW;
    return element(
      "li",
      { class: `${item.kind}${isError(item) || isLow ? " alert" : ""}` },
      element("a", { href: addressOf("run", shown.row.id, { item: item.number }), onclick: (event) => { event.preventDefault(); goTo(item.number); } },
        isError(item) ? "✕ failed" : item.kind === "call" ? name(item.tool) : speaker(item)),
      item.kind === "call" && score !== null && score !== undefined && element("span", { class: "n" }, figure(score)),
    );
  });
  const left = entries.length - lines.length;
  return element("nav", { class: "outline", "aria-label": "Outline" }, element("ol", {}, lines), left > 0 && element("p", { class: "note" }, `${count(left)} more are not listed here.`));
}

function speaker(item) {
  const isOneOfSeveral = item.agent && shown.trajectory.agents.length > 1;
  return isOneOfSeveral ? name(agentName(item.agent)) : TITLES[item.kind];
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
    clip && element("aside", { "aria-label": `Verdicts on clip ${clip.index}` }, judged(clip)),
  );
}

function itemBlock(item) {
  const usage = item.usage ?? {};
  const figures = [
    item.ms !== undefined && seconds(item.ms / 1000),
    (usage.input ?? usage.output) !== undefined && (usage.input ?? usage.output) !== null && `${count((usage.input ?? 0) + (usage.output ?? 0))} tokens`,
    usage.cost !== undefined && usage.cost !== null && dollars(usage.cost),
  ].filter(Boolean);
  return element(
    "article",
    { id: `item-${item.number}`, class: `item ${item.kind}${isError(item) ? " failed" : ""}`, tabindex: "-1" },
    element(
      "p",
      { class: "item-head" },
      element("a", { href: addressOf("run", shown.row.id, { item: item.number }), title: "Link to this step" }, TITLES[item.kind]),
      item.tool && element("b", {}, " ", name(item.server ? `${item.server}.${item.tool}` : item.tool)),
      item.agent && shown.trajectory.agents.length > 1 && element("span", { class: "quiet" }, " ", name(agentName(item.agent))),
      isError(item) && element("span", { class: "alert" }, " failed: ", name(item.error.slice(0, 300))),
      figures.length > 0 && element("span", { class: "quiet figures" }, ` ${figures.join(", ")}`),
    ),
    content(item.text),
  );
}

function agentName(id) {
  const agent = shown.trajectory.agents.find((one) => one.id === id);
  return agent?.name ?? id;
}

function judged(clip) {
  return [
    element("h2", {}, `Clip ${clip.index} `, element("small", {}, name(clip.tool_type)), element("b", { class: clip.score !== null && clip.score < LOW ? "alert" : null }, ` ${figure(clip.score)}`)),
    clip.verdicts.map((verdict, index) => verdictBlock(verdict, index === 0 || verdict.outcome !== "scored")),
  ];
}

function verdictsOf(title, verdicts) {
  if (verdicts.length === 0) return null;
  return element(
    "details",
    { class: "given" },
    element("summary", {}, `${title} (${count(verdicts.length)})`),
    verdicts.map((verdict) => element("div", {}, element("p", { class: "item-head" }, name(verdict.level === verdict.subject ? verdict.level : `${verdict.level}: ${verdict.subject}`)), verdictBlock(verdict, true))),
  );
}

function verdictBlock(verdict, open) {
  const sample = verdict.sample ? `, sample ${verdict.sample + 1}` : "";
  const scores = Object.entries(verdict.scores);
  return element(
    "details",
    { class: "opinion", open },
    element("summary", {}, element("b", {}, name(`${verdict.judge}${sample}`)), element("small", {}, ` ${OUTCOMES[verdict.outcome] ?? verdict.outcome}`)),
    scores.length > 0 && element("ul", { class: "scores" }, scores.map(([criterion, score]) => element("li", {}, element("span", {}, name(criterion)), element("b", {}, figure(score))))),
    [verdict.error, verdict.summary, verdict.reasoning].filter(Boolean).map((text, index) => element("p", { class: `said${index === 0 && verdict.error ? " alert" : ""}`, dir: "auto" }, plain(text))),
    element("p", { class: "note" }, [
      verdict.share_seen !== undefined && verdict.share_seen < 1 && `saw ${Math.round(verdict.share_seen * 100)} % of the text`,
      verdict.cost_usd !== undefined && dollars(verdict.cost_usd),
      verdict.ledger_key && `reply ${verdict.ledger_key.slice(0, 12)}`,
    ].filter(Boolean).join(", ")),
  );
}

function kept() {
  return element("p", { class: "note" }, "Labels are kept in this browser until you download them in the view Labels.");
}
