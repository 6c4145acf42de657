// Where the exercises of a notebook are. Cells are plain objects here, {type, source,
// metadata}: nothing in this module knows JupyterLab.

const EXERCISE = /^#{1,6}[ \t]+Exercise:[ \t]*`?([A-Za-z_]\w*)/m;
const HEADING = /^#{1,6}[ \t]+\S/m;

/**
 * Return the exercises of a notebook, in its order; none if it is no lesson.
 *
 * An exercise is {name, heading, answer, check, end}: its name and the indices of its
 * heading, its answer cell, its check cell and its last cell. The heading and the check
 * are -1 where a learner has removed them.
 */
export function exercisesOf(cells) {
  const marks = cells.map((cell) => cell.metadata.nbgrader || {});
  const exercises = [];
  marks.forEach((mark, answer) => {
    const name = mark.grade_id;
    if (!mark.solution || typeof name !== "string" || cells[answer].type !== "code") return;
    const check = marks.findIndex((other) => other.grade_id === `check_${name}`);
    let heading = answer;
    while (heading >= 0 && named(cells[heading]) !== name) heading -= 1;
    exercises.push({ name, heading, answer, check, end: Math.max(answer, check) });
  });
  return exercises.some((each) => each.check >= 0) ? exercises : [];
}

function named(cell) {
  return cell.type === "markdown" ? (cell.source.match(EXERCISE) || [])[1] : undefined;
}

/**
 * Return the exercise that is meant at a cell, or null if there is none at all.
 *
 * It is the one whose heading, answer or check is at that cell or around it; below an
 * exercise it is that one up to the next heading. Elsewhere it is the next one that is
 * not written yet, or else the next one, or else the last one above; an exercise above
 * comes before those of *Going further*.
 */
export function exerciseAt(cells, index, exercises = exercisesOf(cells)) {
  const here = exercises.find((each) => first(each) <= index && index <= each.end);
  if (here) return here;
  const above = exercises.filter((each) => each.end < index).pop();
  const between = above ? cells.slice(above.end + 1, index + 1) : [];
  const left = between.some((cell) => cell.type === "markdown" && HEADING.test(cell.source));
  if (above && !left) return above;
  // From the core, nothing leads into *Going further*.
  const further = cells.findIndex((cell) => cell.type === "markdown" && /^## Going further/m.test(cell.source));
  const ends = above && index < further ? further : cells.length;
  const below = exercises.filter((each) => first(each) > index && first(each) < ends);
  return below.find((each) => isUnwritten(cells[each.answer])) || below[0] || above || null;
}

function first(exercise) {
  return exercise.heading >= 0 ? exercise.heading : exercise.answer;
}

/** Return whether an answer cell is as the course gave it. */
export function isUnwritten(cell) {
  const course = cell.metadata.attention;
  return course && typeof course.stub === "string"
    ? cell.source === course.stub
    : cell.source.includes("raise NotImplementedError");
}

/** Return the indices of an exercise's Markdown cells, where its hints are. */
export function textOf(cells, exercise) {
  const indices = cells.map((_, index) => index).slice(first(exercise), exercise.end + 1);
  return indices.filter((index) => cells[index].type === "markdown");
}
