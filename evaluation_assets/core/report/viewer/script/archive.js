// The data of the page: rows of the runs table, and blocks of trajectories that are decompressed when one is opened.

import { documentsOf } from "./blocks.js";
import { command } from "./commands.js";

const opened = new Map();
let drop = "DROP";

/** The settings of the page and the rows of the runs table. */
export async function readIndex() {
  const index = await unpacked(document.getElementById("viewer-index").textContent);
  drop = index.drop ?? drop;
  return index;
}

/** Whether the trajectories stand in the page, not in files beside it. */
export function isInside() {
  return document.getElementById("viewer-block-0") !== null;
}

/** The trajectory of a row. */
export async function trajectoryOf(row) {
  return (await blockOf(row.block))[row.place];
}

/** The trajectories of a block. */
export function blockOf(number) {
  if (!opened.has(number)) opened.set(number, load(number));
  return opened.get(number);
}

async function load(number) {
  const inline = document.getElementById(`viewer-block-${number}`);
  if (inline !== null) return documentsOf(await unpacked(inline.textContent));
  let response;
  try {
    response = await fetch(`report_data/${number}.json.gz`);
  } catch {
    throw new Error(`The transcripts of this report are in files beside it. Open it with: ${command("open", drop)}`);
  }
  if (!response.ok) throw new Error(`report_data/${number}.json.gz: ${response.status}`);
  return documentsOf(await decompressed(response.body));
}

async function unpacked(base64) {
  const binary = atob(base64.trim());
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place += 1) bytes[place] = binary.charCodeAt(place);
  return decompressed(new Blob([bytes]).stream());
}

async function decompressed(stream) {
  const plain = stream.pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(plain).text());
}
