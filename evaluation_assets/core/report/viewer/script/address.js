// What is shown is in the address, so that it can be sent to somebody: `#/runs?q=...`, `#/run/ID?item=3`.

/** The view, its argument and its parameters; the view is null for the sections of the summary. */
export function address() {
  const hash = location.hash.slice(1);
  if (!hash.startsWith("/")) return { view: null, argument: null, parameters: new URLSearchParams() };
  const [path, query] = split(hash.slice(1), "?");
  const [view, argument] = split(path, "/");
  return { view, argument: argument === null ? null : decoded(argument), parameters: new URLSearchParams(query ?? "") };
}

/** The address of a view. */
export function addressOf(view, argument = null, parameters = {}) {
  const known = Object.entries(parameters).filter(([, value]) => value !== null && value !== "" && value !== undefined);
  const query = new URLSearchParams(known.map(([key, value]) => [key, String(value)])).toString();
  return `#/${view}${argument === null ? "" : `/${encodeURIComponent(argument)}`}${query ? `?${query}` : ""}`;
}

/** Change the address without a new entry in the history. */
export function replaceAddress(target) {
  history.replaceState(null, "", target);
}

function split(text, mark) {
  const place = text.indexOf(mark);
  return place < 0 ? [text, null] : [text.slice(0, place), text.slice(place + 1)];
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
