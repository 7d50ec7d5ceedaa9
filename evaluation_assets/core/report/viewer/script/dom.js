// Elements made of data. Text becomes text nodes, never markup.

/** Make an element. `on` + event names are listeners; null and false attributes are left out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked") made[key] = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Replace what an element holds. */
export function fill(target, ...children) {
  target.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A text without characters that turn the writing direction or have no glyph. */
export function plain(text) {
  return String(text).replaceAll("\r\n", "\n").replace(CONTROL, "\ufffd");
}

/** A short text on one line, in its own writing direction. */
export function name(text) {
  return element("bdi", {}, plain(text).replace(/\s+/g, " "));
}

/** A figure; a dash where it is missing. */
export function figure(value, digits = 2) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

/** A count with thousands separated; a dash where it is missing. */
export function count(value) {
  return value === null || value === undefined ? "–" : value.toLocaleString("en-US");
}

/** A count with its noun. */
export function counted(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** US dollars; a dash where they are unknown. */
export function dollars(value) {
  return value === null || value === undefined ? "–" : `$${value < 0.1 ? value.toPrecision(2) : value.toFixed(2)}`;
}

/** Seconds as a person says them. */
export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 120) return `${Math.round(value)} s`;
  return value < 7200 ? `${Math.round(value / 60)} min` : `${(value / 3600).toFixed(1)} h`;
}
