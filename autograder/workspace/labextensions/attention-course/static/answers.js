// The earlier answers of an exercise, as its answer cell keeps them:
// metadata.attention = {"stub": "source", "earlier": [{"time": "ISO UTC", "source": "…"}]}.
// `autograder` reads and writes the same. Nothing in this module knows JupyterLab.

export const MOST = 20;

/** Return what the course put into an answer cell, or null if the cell does not say. */
export function stubOf(attention) {
  return attention && typeof attention.stub === "string" ? attention.stub : null;
}

/** Return the earlier answers that can be read, oldest first. */
export function earlierOf(attention) {
  return listOf(attention).filter((each) => each && typeof each.source === "string");
}

function listOf(attention) {
  return attention && Array.isArray(attention.earlier) ? attention.earlier : [];
}

/**
 * Return the metadata with one answer more: {stub, earlier}.
 *
 * The stub, an empty cell and what was kept last are not kept again. The oldest of more
 * than twenty goes.
 */
export function keep(attention, source, time) {
  const last = listOf(attention).slice(-1)[0];
  const known = source === stubOf(attention) || (last && source === last.source);
  if (!source.trim() || known) return attention;
  const earlier = [...listOf(attention), { time, source }].slice(-MOST);
  return { ...attention, earlier };
}

/** Return when an earlier answer was replaced, in the reader's own time and form. */
export function timeOf(answer) {
  const time = new Date(answer.time);
  if (Number.isNaN(time.getTime())) return "a time not known";
  return time.toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
}

/** Return an earlier answer's time and length in words, for a list. */
export function describe(answer) {
  const lines = answer.source.split("\n").length;
  return `${timeOf(answer)}, ${lines} line${lines === 1 ? "" : "s"}`;
}
