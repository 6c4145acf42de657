// A lesson's notebook with what the reader has written in it, and the way back: pure
// functions of notebooks and of what the browser keeps, which a page and tests call.
//
// An answer is the source of the cell that has the exercise's name; earlier ones and
// predictions stand in the cells' metadata, as JupyterLab and `autograder` write them. What
// only a page knows, such as when an exercise was solved, stands in the notebook's.

(() => {
  const { read, rowsOf, rowOf, names } = attentionCourse.storage;
  const PAGE = "attention_page"; // of a notebook's metadata
  const REPORT = "application/vnd.attention-course.check+json";
  const WHOLE = "attention-course"; // the first key of a file with all that a browser keeps
  // Ids that editors give to new cells; the course's are words.
  const OWN = /^([0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{12})?)$/;
  const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;
  const DOCSTRING = /[rR]?("""|''')[^]*?\1/g;

  class Refusal extends Error {}

  // Notebooks

  const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const record = (value) => (isRecord(value) ? value : {});
  const list = (value) => (Array.isArray(value) ? value : []);
  const metadataOf = (cell) => record(cell.metadata);
  const attentionOf = (cell) => record(metadataOf(cell).attention);
  const marksOf = (cell) => record(metadataOf(cell).nbgrader);
  const gradeIdOf = (cell) => (typeof marksOf(cell).grade_id === "string" ? marksOf(cell).grade_id : "");
  const isAnswer = (cell) => cell.cell_type === "code" && marksOf(cell).solution === true;
  const sourceOf = (cell) => {
    const text = Array.isArray(cell.source) ? cell.source.join("") : cell.source;
    return typeof text === "string" ? text.replace(/\r\n?/g, "\n") : "";
  };
  /** Return a text as a notebook's file has it. */
  const linesOf = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  /** Return a text without what an editor may change on its own. */
  const bare = (text) => text.trim().split("\n").map((each) => each.trimEnd()).join("\n");
  const isSame = (one, other) => bare(one) === bare(other);
  const optionsOf = (cell) => (sourceOf(cell).split(/\n\s*\n/).pop().match(/^[-*] /gm) ?? []).length;
  const isPrediction = (cell) => cell.cell_type === "markdown" && Number.isInteger(record(attentionOf(cell).prediction).right);

  /** Return whether a cell is code of the lesson that its reader may change. */
  const isFree = (cell) => cell.cell_type === "code" && !gradeIdOf(cell);

  /** Return a short text that is another one for another text of a lesson. */
  function digest(frame) {
    let [one, two] = [0xdeadbeef, 0x41c6ce57];
    for (const each of frame.cells.map((cell) => `${cell.id}\n${sourceOf(cell)}`).join("\n")) {
      one = Math.imul(one ^ each.codePointAt(0), 2654435761);
      two = Math.imul(two ^ each.codePointAt(0), 1597334677);
    }
    return [one, two].map((each) => (each >>> 0).toString(16).padStart(8, "0")).join("");
  }

  /** Return whether a text is an exercise's stub, of whichever release. */
  function isStub(text, ...stubs) {
    if (!text.trim() || stubs.some((each) => typeof each === "string" && isSame(each, text))) return true;
    const lines = text.replace(DOCSTRING, "").split("\n").map((each) => each.replace(/\s*#.*/, "").trim()).filter(Boolean);
    const end = lines.findIndex((each) => each.endsWith(":"));
    return end >= 0 && /^def\b/.test(lines[0]) && lines.slice(end + 1).join() === "raise NotImplementedError";
  }

  const textOf = (notebook) => `${JSON.stringify(notebook, null, 1)}\n`;

  // Out

  /** Return what only a page knows of some exercises. */
  function knownOf(exercises) {
    const known = {};
    for (const kind of ["solved", "checked"]) {
      const pairs = exercises.map((name) => [name, read(kind, name)]).filter(([, text]) => text !== null);
      if (pairs.length) known[kind] = Object.fromEntries(pairs);
    }
    return known;
  }

  /** Return a lesson's notebook with the reader's answers, predictions and own cells. */
  function filled(frame, lesson) {
    const notebook = structuredClone(frame);
    const exercises = [];
    for (const cell of notebook.cells) {
      if (isAnswer(cell)) {
        const name = gradeIdOf(cell);
        exercises.push(name);
        const answer = read("answer", name);
        if (answer !== null) cell.source = linesOf(answer);
        const rows = rowsOf(name).filter(({ source }) => source !== answer).reverse();
        if (rows.length) cell.metadata.attention = { ...attentionOf(cell), earlier: rows };
      } else if (isPrediction(cell)) {
        const choice = read("prediction", `${lesson}/${cell.id}`);
        if (choice !== null) cell.metadata.attention.prediction.choice = Number(choice);
      } else if (isFree(cell)) {
        const changed = read("cell", `${lesson} ${cell.id}`);
        if (changed !== null) cell.source = linesOf(changed);
      }
    }
    notebook.metadata[PAGE] = { text: digest(frame), ...knownOf(exercises) };
    insertOwn(notebook, ownCells(lesson));
    return notebook;
  }

  /** Return the cells of the reader's own in a lesson, {after, cell}. */
  function ownCells(lesson) {
    try {
      return list(JSON.parse(read("cells", lesson) ?? "[]")).filter((each) => isRecord(each) && isRecord(each.cell));
    } catch {
      return [];
    }
  }

  function insertOwn(notebook, own) {
    for (const { after, cell } of [...own].reverse()) {
      const index = notebook.cells.findIndex((each) => each.id === after);
      const source = linesOf(String(cell.source));
      const code = cell.cell_type === "code" ? { execution_count: null, outputs: [] } : {};
      notebook.cells.splice(after === "" ? 0 : index < 0 ? notebook.cells.length : index + 1, 0, { ...cell, ...code, source });
    }
  }

  /** Return all that the browser keeps, as a file. */
  function whole() {
    const kept = names().sort().map((key) => [key, read(...split(key))]);
    return textOf({ [WHOLE]: 1, kept: Object.fromEntries(kept) });
  }

  function split(key) {
    const at = key.indexOf(" ");
    return [key.slice(0, at), key.slice(at + 1)];
  }

  // In

  /** Return what a file holds: a notebook, or all that a browser kept; `file` names it. */
  function parsed(text, file) {
    if (/^\s*</.test(text)) throw new Refusal(`${file} is a web page: take the notebook itself, a file that ends in .ipynb.`);
    let data;
    try {
      data = JSON.parse(text.replace(/^\ufeff/, ""));
    } catch {
      throw new Refusal(`${file} is no notebook: what it holds is not JSON, or only a part of it.`);
    }
    if (isRecord(data) && WHOLE in data) {
      if (data[WHOLE] === 1 && isRecord(data.kept)) return data;
      throw new Refusal(`${file} is of another version of this book.`);
    }
    if (!isRecord(data) || !Array.isArray(data.cells) || !data.cells.every(isRecord)) {
      throw new Refusal(`${file} is no notebook: it has no cells.`);
    }
    return data;
  }

  /**
   * Return the lessons that a notebook is of, as names, the one with most exercises first.
   *
   * It is more than one where a lesson has become two since. course : what home.py tells
   */
  function lessonsOf(notebook, course, file) {
    const cells = notebook.cells;
    const lessonOf = new Map(course.lessons.flatMap(({ lesson, exercises }) => exercises.map(({ name }) => [name, lesson])));
    const counts = new Map();
    let others = 0;
    for (const cell of cells) {
      if (cell.cell_type !== "code") continue;
      const lesson = lessonOf.get(gradeIdOf(cell) || cell.id);
      if (lesson) counts.set(lesson, (counts.get(lesson) ?? 0) + 1);
      else if (isAnswer(cell)) others += 1;
    }
    const isOurs = typeof record(notebook.metadata).attention_release === "string" || cells.some((each) => isRecord(metadataOf(each).attention));
    const count = [...counts.values()].reduce((sum, each) => sum + each, 0);
    if (!count || (!isOurs && others >= count)) throw new Refusal(`${file} is no notebook of this course: none of its lessons has these exercises.`);
    return [...counts].sort(([, one], [, other]) => other - one).map(([lesson]) => lesson);
  }

  /** Return a notebook's answer cells of one exercise: the original first, then copies. */
  function answerCell(cells, name) {
    const isCode = (cell) => cell.cell_type === "code";
    const is = [
      (cell) => cell.id === name && gradeIdOf(cell) === name,
      (cell) => gradeIdOf(cell) === name,
      (cell) => cell.id === name && !gradeIdOf(cell),
    ];
    for (const each of is) {
      const found = cells.find((cell) => isCode(cell) && each(cell));
      if (found) return found;
    }
    return null;
  }

  /** Return two lists of earlier versions as one, the newest first, none of them twice. */
  function joined(own, theirs) {
    const has = (rows) => (row) => rows.some(({ source }) => source === row.source);
    if (theirs.every(has(own))) return own;
    if (own.every(has(theirs))) return theirs;
    const rows = [...own, ...theirs.filter((each) => !has(own)(each))];
    return rows.sort((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : 0));
  }

  /** What is to be kept, [kind, name, text], with an account of it. */
  class Taken {
    answers = 0;
    aside = 0; // answers of the reader's that others have replaced
    earlier = 0;
    predictions = 0;
    differing = 0; // predictions that stay
    cells = 0;
    changed = 0; // cells of the lesson, as the reader has changed them
    staying = 0; // such cells that stay as they are here
    isEmpty = true;
    changes = new Map();

    get(kind, name) {
      const change = this.changes.get(`${kind} ${name}`);
      return change ? change[2] : read(kind, name);
    }

    set(kind, name, text) {
      if (read(kind, name) === text) this.changes.delete(`${kind} ${name}`);
      else this.changes.set(`${kind} ${name}`, [kind, name, text]);
    }

    /** Take an answer and earlier ones; what stands here stays among the earlier ones. */
    answer(name, text, rows, stub) {
      const isNone = (each) => each === null || isStub(each, stub);
      const own = this.get("answer", name);
      const theirs = rows.filter(({ source }) => !isNone(source));
      const before = rowsOf(name);
      let after = joined(before, theirs);
      this.earlier += after.filter(({ source }) => ![text, ...before.map((each) => each.source)].includes(source)).length;
      const front = (source) => {
        const known = after.find((each) => each.source === source) ?? rowOf(source);
        after = [known, ...after.filter((each) => each.source !== source)];
      };
      if (!isNone(text) || theirs.length) this.isEmpty = false;
      if (!isNone(text) && (isNone(own) || !isSame(own, text))) {
        if (!isNone(own)) {
          this.aside += 1;
          front(own);
        }
        front(text); // or the first letter typed over it would be its end
        this.answers += 1;
        this.set("answer", name, text);
      }
      if (after.length) this.set("earlier", name, JSON.stringify(after));
    }

    prediction(name, choice) {
      this.isEmpty = false;
      const own = this.get("prediction", name);
      if (own === null) {
        this.predictions += 1;
        this.set("prediction", name, String(choice));
      } else if (own !== String(choice)) this.differing += 1;
    }

    /** Take a cell of the lesson as its reader has changed it. */
    cell(name, text) {
      this.isEmpty = false;
      const own = this.get("cell", name);
      if (own === null) {
        this.changed += 1;
        this.set("cell", name, text);
      } else if (!isSame(own, text)) this.staying += 1;
    }

    /** Note when an exercise was first solved. */
    solved(name, time) {
      const own = this.get("solved", name);
      if (TIME.test(time) && (own === null || Date.parse(time) < Date.parse(own))) this.set("solved", name, time);
    }

    /** Note what there is nothing of yet. */
    other(kind, name, text) {
      if (this.get(kind, name) === null) this.set(kind, name, text);
    }
  }

  /** Return what a notebook has for the browser; frames : the lessons' notebooks by name. */
  function taken(notebook, frames) {
    const all = new Taken();
    const known = record(record(notebook.metadata)[PAGE]);
    for (const [lesson, frame] of frames) {
      const isSameText = known.text === digest(frame); // else the lesson's change would be the reader's
      for (const cell of frame.cells) {
        if (isSameText && isFree(cell)) takeCell(all, notebook.cells, cell, lesson);
        if (isAnswer(cell)) takeAnswer(all, notebook.cells, cell, known);
        else if (isPrediction(cell)) takePrediction(all, notebook.cells, cell, lesson);
      }
    }
    takeOwn(all, notebook.cells, frames);
    return all;
  }

  function takeAnswer(all, cells, frameCell, known) {
    const name = gradeIdOf(frameCell);
    const cell = answerCell(cells, name);
    const stub = sourceOf(frameCell);
    if (cell) {
      const text = sourceOf(cell);
      const rows = list(attentionOf(cell).earlier)
        .filter((each) => isRecord(each) && typeof each.source === "string")
        .map(({ time, source }) => ({ time: String(time ?? ""), source }))
        .reverse();
      all.answer(name, isStub(text, stub, attentionOf(cell).stub) ? null : text, rows, stub);
    }
    const time = record(known.solved)[name] ?? solvedIn(cells, name);
    if (typeof time === "string") all.solved(name, time);
    const checked = record(known.checked)[name];
    if (typeof checked === "string") all.other("checked", name, checked);
  }

  /** Return the time if the check of an exercise has reported that it is solved, else null. */
  function solvedIn(cells, name) {
    const outputs = cells.filter((each) => gradeIdOf(each) === `check_${name}`).flatMap((each) => list(each.outputs));
    const reports = outputs.map((each) => record(record(record(each).data)[REPORT]));
    return reports.some((each) => each.exercise === name && each.solved === true) ? new Date().toISOString() : null;
  }

  function takePrediction(all, cells, frameCell, lesson) {
    const mine = cells.find((each) => each.id === frameCell.id && isSame(sourceOf(each), sourceOf(frameCell)))
      ?? cells.find((each) => each.cell_type === "markdown" && isSame(sourceOf(each), sourceOf(frameCell)));
    const { choice } = record(mine && attentionOf(mine).prediction);
    if (Number.isInteger(choice) && choice >= 0 && choice < optionsOf(frameCell)) all.prediction(`${lesson}/${frameCell.id}`, choice);
  }

  function takeCell(all, cells, frameCell, lesson) {
    const mine = cells.find((each) => each.id === frameCell.id && isFree(each));
    const text = mine ? sourceOf(mine) : "";
    if (text.trim() && !isSame(text, sourceOf(frameCell))) all.cell(`${lesson} ${frameCell.id}`, text);
  }

  /** Take the cells that the reader has added, each to where the lesson's cell above it is. */
  function takeOwn(all, cells, frames) {
    const lessonOf = new Map([...frames].flatMap(([lesson, { cells: each }]) => each.map(({ id }) => [id, lesson])));
    const mine = new Map([...frames.keys()].map((lesson) => [lesson, ownCells(lesson)]));
    let [after, lesson] = ["", frames.keys().next().value];
    for (const cell of cells) {
      const name = gradeIdOf(cell);
      const frameId = lessonOf.has(cell.id) ? cell.id : lessonOf.has(name) && answerCell(cells, name) === cell ? name : "";
      if (frameId) {
        [after, lesson] = [frameId, lessonOf.get(frameId)];
        continue;
      }
      const isDropped = isAnswer(cell) && !lessonOf.has(name) && !isStub(sourceOf(cell), attentionOf(cell).stub); // an exercise that there was
      if (!isDropped && !(typeof cell.id === "string" ? OWN.test(cell.id) : isAnswer(cell))) continue;
      if (!["code", "markdown", "raw"].includes(cell.cell_type) || !sourceOf(cell).trim()) continue;
      all.isEmpty = false;
      keepOwn(all, mine.get(lesson), after, cell);
    }
    for (const [each, own] of mine) if (own.length) all.set("cells", each, JSON.stringify(own));
  }

  function keepOwn(all, own, after, cell) {
    const source = sourceOf(cell);
    const known = own.find((each) => each.cell.id === cell.id || (each.after === after && each.cell.source === source));
    if (known?.cell.source === source) return;
    all.cells += 1;
    const before = known ? [...list(attentionOf(known.cell).earlier), { time: new Date().toISOString(), source: known.cell.source }] : [];
    const earlier = [...before, ...list(attentionOf(cell).earlier)];
    const { nbgrader, attention, deletable, editable, ...metadata } = metadataOf(cell); // the lesson's marks, in a copied cell
    if (earlier.length) metadata.attention = { earlier };
    const id = typeof cell.id === "string" && OWN.test(cell.id) ? cell.id : newId();
    const kept = { cell_type: cell.cell_type, id, metadata, source };
    if (isRecord(cell.attachments)) kept.attachments = cell.attachments;
    if (known) known.cell = kept;
    else own.push({ after, cell: kept });
  }

  const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(4)), (each) => each.toString(16).padStart(2, "0")).join("");

  /** Return what a file with all that a browser kept has for this one. */
  function takenFromWhole({ kept }) {
    const all = new Taken();
    const texts = Object.entries(kept).filter(([key, text]) => /^[a-z-]+ \S/.test(key) && typeof text === "string");
    const named = (kind) => texts.filter(([key]) => split(key)[0] === kind).map(([key, text]) => [split(key)[1], text]);
    const answers = new Map(named("answer"));
    const earlier = new Map(named("earlier"));
    for (const name of new Set([...answers.keys(), ...earlier.keys()])) {
      let rows = [];
      try {
        rows = list(JSON.parse(earlier.get(name) ?? "[]"))
          .map((each) => (typeof each === "string" ? { time: "", source: each } : each))
          .filter((each) => isRecord(each) && typeof each.source === "string")
          .map(({ time, source }) => ({ time: String(time ?? ""), source }));
      } catch {
        // Of an answer whose earlier ones cannot be read, the answer itself is taken.
      }
      all.answer(name, answers.get(name) ?? null, rows);
    }
    named("prediction").forEach(([name, text]) => /^\d+$/.test(text) && all.prediction(name, text));
    named("cell").forEach(([name, text]) => all.cell(name, text));
    named("solved").forEach(([name, text]) => all.solved(name, text));
    for (const [key, text] of texts) {
      if (!["answer", "earlier", "prediction", "cell", "solved"].includes(split(key)[0])) all.other(...split(key), text);
    }
    if (texts.length) all.isEmpty = false;
    return all;
  }

  // Words

  const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

  /** Return a sentence on what was taken. */
  function account({ answers, aside, earlier, predictions, differing, cells, changed, staying, isEmpty, changes }) {
    const parts = [
      answers && count(answers, "answer"),
      predictions && count(predictions, "prediction"),
      earlier && count(earlier, "earlier answer"),
      changed && count(changed, "changed cell"),
      cells && count(cells, "cell of your own", "cells of your own"),
    ].filter(Boolean);
    const last = parts.pop();
    const words = parts.length ? `${parts.join(", ")} and ${last}` : last;
    let text = isEmpty ? "It holds no answer and no prediction yet" : "Nothing in it is new here";
    if (words) text = `${words} taken`;
    else if (changes.size) text = "What is solved was taken";
    const more = [
      aside && `${aside} of yours ${aside === 1 ? "is" : "are"} kept among the earlier ones`,
      differing && `${count(differing, "prediction")} that you made here ${differing === 1 ? "stays" : "stay"}`,
      staying && `${count(staying, "cell")} that you changed here ${staying === 1 ? "stays" : "stay"}`,
    ].filter(Boolean);
    return `${[text, ...more].join("; ")}.`;
  }

  attentionCourse.notebooks = { Refusal, WHOLE, filled, whole, textOf, parsed, lessonsOf, taken, takenFromWhole, account, isStub };
})();
