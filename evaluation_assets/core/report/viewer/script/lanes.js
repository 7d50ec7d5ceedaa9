// Which agent worked when: a lane for each agent over the items of a trajectory.

import { addressOf } from "./address.js";
import { element, name, plain } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const SEGMENTS = 600;
const LANE_COLOURS = 6;

/** The lanes of a trajectory with several agents; null where there is one. */
export function lanes(trajectory, items) {
  const agents = trajectory.agents.filter((agent) => items.some((item) => item.agent === agent.id));
  if (agents.length < 2) return null;
  const segments = segmentsOf(items);
  const shown = segments.slice(0, SEGMENTS);
  const width = shown.at(-1).end;
  return element(
    "section",
    { class: "lanes agent-lanes", "aria-label": "Agents over the course of the run" },
    agents.map((agent) =>
      element("div", { class: "lane" }, element("span", { class: laneOf(trajectory, agent.id) }, name(agent.name ?? agent.id)), lane(trajectory, agent, shown, width)),
    ),
    segments.length > shown.length && element("p", { class: "note" }, `Lanes end at item ${width}; ${segments.length - shown.length} more changes of agent follow.`),
  );
}

/** The class of an agent's lane, which gives it a colour. */
export function laneOf(trajectory, agent) {
  const place = trajectory.agents.findIndex((one) => one.id === agent);
  return place < 0 ? "" : `lane-${place % LANE_COLOURS}`;
}

/** Neighbouring items of one agent: its place, and whether a call of it failed. */
function segmentsOf(items) {
  const segments = [];
  for (const item of items) {
    if (item.agent === undefined) continue;
    if (segments.at(-1)?.agent !== item.agent) segments.push({ agent: item.agent, start: item.number, end: item.number + 1, failed: false });
    segments.at(-1).end = item.number + 1;
    segments.at(-1).failed ||= item.error !== undefined;
  }
  return segments;
}

function lane(trajectory, agent, segments, width) {
  const picture = svg("svg", { viewBox: `0 0 ${width} 10`, preserveAspectRatio: "none" });
  for (const segment of segments.filter((one) => one.agent === agent.id)) {
    const title = `${plain(agent.name ?? agent.id)}, items ${segment.start} to ${segment.end - 1}${segment.failed ? ", with a failed call" : ""}`;
    const link = svg("a", { href: addressOf("run", trajectory.id, { item: segment.start }), "aria-label": title });
    const bar = svg("rect", { x: segment.start, y: 1, width: segment.end - segment.start, height: 8, class: segment.failed ? "bad" : laneOf(trajectory, agent.id) });
    const tip = svg("title", {});
    tip.textContent = title;
    bar.append(tip);
    link.append(bar);
    picture.append(link);
  }
  return picture;
}

function svg(kind, attributes) {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
