// Full-text search over all transcripts and verdicts. The blocks are read once, in the background or at the first search.

import { blockOf } from "./archive.js";
import { folded } from "./query.js";

let texts = null;

/** Read all texts, a block at a time so that the page stays responsive. `report` gets the share that is read. */
export function readTexts(rows, report = () => {}) {
  texts ??= collect(rows, report);
  return texts;
}

/** The rows whose transcript, verdicts, ID or task hold every word. */
export async function search(rows, words, report) {
  if (words.length === 0) return rows;
  const known = await readTexts(rows, report);
  return rows.filter((row) => words.every((word) => known.get(row.id).includes(word)));
}

async function collect(rows, report) {
  const found = new Map();
  const blocks = 1 + Math.max(-1, ...rows.map((row) => row.block));
  const byBlock = Map.groupBy ? Map.groupBy(rows, (row) => row.block) : grouped(rows);
  for (let number = 0; number < blocks; number += 1) {
    const block = await blockOf(number);
    for (const row of byBlock.get(number) ?? []) found.set(row.id, textOf(block[row.place]));
    report((number + 1) / blocks);
    await new Promise((resume) => setTimeout(resume));
  }
  return found;
}

function grouped(rows) {
  const groups = new Map();
  for (const row of rows) groups.set(row.block, [...(groups.get(row.block) ?? []), row]);
  return groups;
}

/** Everything that can be found of a trajectory, folded. */
export function textOf(trajectory) {
  const verdicts = [...trajectory.clips.flatMap((clip) => clip.verdicts), ...trajectory.verdicts];
  const texts = [
    trajectory.id,
    trajectory.task_id,
    trajectory.task,
    ...trajectory.items.flatMap((item) => [item.tool, item.text, item.error]),
    ...verdicts.flatMap((verdict) => [verdict.summary, verdict.reasoning, verdict.error]),
  ];
  return folded(texts.filter(Boolean).join("\n"));
}
