// Commands for a terminal that a page names, whole: with the home folder that the page lies in, if it is read from disk.

/** A command of evaluation-assets. */
export function command(...words) {
  const home = homeOfPage();
  return ["evaluation-assets", ...words, ...(home === null ? [] : ["--home", home])].map(quoted).join(" ");
}

/** A folder of the home folder, as a path where that is known. */
export function folder(name) {
  const home = homeOfPage();
  return home === null ? `${name}/ of the home folder` : `${home}/${name}/`;
}

/** Write the commands that the page has without any script whole. */
export function writeCommands() {
  for (const code of document.querySelectorAll("code[data-command]")) code.textContent = command(...code.dataset.command.split(" "));
}

/** The home folder; `null` where a server or a copy of the page does not tell it. */
function homeOfPage() {
  if (location.protocol !== "file:") return null;
  const path = decodeURIComponent(location.pathname);
  const place = path.lastIndexOf("/reports/");
  return place > 0 && /\/(report|index)\.html$/.test(path) ? path.slice(0, place) : null;
}

/** A word for a shell, in single quotes where it needs them. */
function quoted(word) {
  return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
