// The connection with `evaluation-assets review`, which serves the page and writes each label into a file at once.

const token = new URLSearchParams(location.search).get("review");
const unsent = new Map();
let sending = false;
let problem = null;

/** Whether `review` serves the page; else labels are downloaded. */
export function isServed() {
  return token !== null && location.protocol.startsWith("http");
}

/** Who labels, and the labels that the person gave before. */
export async function readDesk() {
  if (!isServed()) return { annotator: null, labels: [] };
  const response = await fetch("review", { headers: { "X-Review-Token": token } });
  if (!response.ok) throw new Error(await refusal(response));
  return response.json();
}

/** Send a label, after those that are on their way. What could not be sent is sent again with the next one. */
export function send(label, report) {
  unsent.set(JSON.stringify([label.trajectory_id, label.clip_index]), label);
  if (!sending) post(report);
}

/** What is to be said about the last labels. */
export function deskState() {
  if (problem !== null) return `Not saved: ${problem}`;
  return unsent.size > 0 ? "Saving…" : "Saved.";
}

async function post(report) {
  sending = true;
  const labels = [...unsent.entries()];
  const body = JSON.stringify(labels.map(([, label]) => label));
  try {
    const response = await fetch("review", {
      method: "POST",
      keepalive: body.length < 20_000, // a page that reloads sends what was typed last; browsers allow 64 KiB
      headers: { "X-Review-Token": token, "Content-Type": "application/json" },
      body,
    });
    if (!response.ok) throw new Error(await refusal(response));
    for (const [key, label] of labels) if (unsent.get(key) === label) unsent.delete(key);
    problem = null;
  } catch (failure) {
    problem = failure instanceof TypeError ? "the command that serves this page has ended; start it again, then label once more" : failure.message;
  }
  sending = false;
  report();
  if (unsent.size > 0 && problem === null) post(report);
}

async function refusal(response) {
  return (await response.text()).slice(0, 300) || `status ${response.status}`;
}
