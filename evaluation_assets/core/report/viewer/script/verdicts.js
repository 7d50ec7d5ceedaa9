// What the judges said about a clip or a trajectory.

import { count, dollars, element, figure, name, plain } from "./dom.js";

/** Below it a score is marked. */
export const LOW = 0.5;

const OUTCOMES = { scored: "scored", abstained: "abstained", failed: "failed", not_run: "not run" };

/** The verdicts on a clip, with its score. */
export function clipVerdicts(clip) {
  return [
    element("h2", {}, clipTitle(clip), element("b", { class: clip.score !== null && clip.score < LOW ? "alert" : null }, ` ${figure(clip.score)}`)),
    clip.verdicts.map((verdict, index) => verdictBlock(verdict, index === 0 || verdict.outcome !== "scored")),
  ];
}

/** Number and tool type of a clip. */
export function clipTitle(clip) {
  return [`Clip ${clip.index} `, element("small", {}, name(clip.tool_type))];
}

/** Verdicts with their subjects, folded. */
export function verdictList(title, verdicts) {
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
      verdict.share_seen !== undefined && verdict.share_seen < 1 && `saw ${Math.round(verdict.share_seen * 100)}% of the text`,
      verdict.cost_usd !== undefined && dollars(verdict.cost_usd),
      verdict.ledger_key && `reply ${verdict.ledger_key.slice(0, 12)}`,
    ].filter(Boolean).join(", ")),
  );
}
