// Labels of a person: kept in this browser, downloaded or sent as lines that the `labels` folder takes.

import { isServed, send } from "./desk.js";

const NONE = { label: null, comment: "" };

let store = new Map();
let storeKey = null;
let changed = () => {};

/** Read the labels of a drop that this browser holds, and `saved` ones. A browser may keep nothing for pages from disk. */
export function openLabels(drop, saved, onchange) {
  storeKey = `evaluation_assets/labels/${drop}`;
  changed = onchange;
  try {
    store = new Map(JSON.parse(localStorage.getItem(storeKey) ?? "[]"));
  } catch {
    store = new Map();
  }
  for (const { trajectory_id: trajectory, clip_index: clip, label, comment } of saved) store.set(keyOf(trajectory, clip ?? null), { label, comment: comment ?? "" });
}

/** The label of a trajectory, or of one of its clips: `label` is pass, fail, a score of 0 to 1, or null. */
export function labelOf(trajectory, clip = null) {
  return store.get(keyOf(trajectory, clip)) ?? NONE;
}

/** Set fields of a label. A label without content is removed. */
export function setLabel(trajectory, clip, fields) {
  const label = { ...labelOf(trajectory, clip), ...fields };
  if (label.label === null && label.comment === "") store.delete(keyOf(trajectory, clip));
  else store.set(keyOf(trajectory, clip), label);
  try {
    localStorage.setItem(storeKey, JSON.stringify([...store]));
  } catch {
    // kept until the page is closed; the download holds all
  }
  if (isServed()) send({ trajectory_id: trajectory, clip_index: clip, ...label }, changed);
  changed();
}

/** `pass`, `fail` or null for any label; a score of one half or more is a pass. */
export function labelWord(label) {
  return typeof label === "number" ? (label >= 0.5 ? "pass" : "fail") : label;
}

/** How many trajectories have a label. */
export function labelled() {
  return lines().filter((line) => line.clip_index === null).length;
}

/** How many clips have a label. */
export function labelledClips() {
  return lines().filter((line) => line.clip_index !== null).length;
}

/** The labels as JSON Lines; every line has the columns that the `labels` folder takes. */
export function asFile(drop, annotator) {
  return lines().map((line) => `${JSON.stringify({ drop, annotator, ...line })}\n`).join("");
}

function lines() {
  return [...store]
    .filter(([, label]) => label.label !== null)
    .map(([key, label]) => {
      const [trajectory, clip] = JSON.parse(key);
      return { trajectory_id: trajectory, clip_index: clip, ...label };
    });
}

function keyOf(trajectory, clip) {
  return JSON.stringify([trajectory, clip]);
}
