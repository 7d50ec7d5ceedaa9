// Labels of a person: kept in this browser, downloaded as the file that the `labels` folder takes.

let store = new Map();
let key = null;
let changed = () => {};

/** Read the labels of a drop that this browser holds. A browser may keep nothing for pages from disk. */
export function openLabels(drop, onchange) {
  key = `evaluation_assets/labels/${drop}`;
  changed = onchange;
  try {
    store = new Map(JSON.parse(localStorage.getItem(key) ?? "[]"));
  } catch {
    store = new Map();
  }
}

/** The label of a trajectory: `label` is pass, fail, or null; `comment` a text. */
export function labelOf(trajectory) {
  return store.get(trajectory) ?? { label: null, comment: "" };
}

/** Set fields of a label. A label without content is removed. */
export function setLabel(trajectory, fields) {
  const label = { ...labelOf(trajectory), ...fields };
  if (label.label === null && label.comment === "") store.delete(trajectory);
  else store.set(trajectory, label);
  try {
    localStorage.setItem(key, JSON.stringify([...store]));
  } catch {
    // kept until the page is closed; the download holds all
  }
  changed();
}

/** How many trajectories have a label. */
export function labelled() {
  return [...store.values()].filter((label) => label.label !== null).length;
}

/** The labels as JSON Lines; every line has the columns that the `labels` folder takes. */
export function asFile(drop, annotator) {
  return [...store]
    .filter(([, label]) => label.label !== null)
    .map(([trajectory, label]) => ({ drop, trajectory_id: trajectory, label: label.label, annotator, comment: label.comment }))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}
