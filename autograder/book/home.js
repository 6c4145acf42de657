// The reader's home: where to go on, what is solved, and the way out of the browser and back.
// On other pages it fills in what is solved, and hands out the lesson's notebook.

(() => {
  const { storage, notebooks } = attentionCourse;
  const { KEY, read, rowsOf } = storage;
  const HERE = new URL("live/", document.currentScript.src);
  const ROOT = new URL("../../", HERE); // of the book
  const MARKS = { solved: "✓", begun: "…", open: "○" };
  const MOST_BYTES = 32 * 2 ** 20;
  const TIE = "\u00a0";

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const link = (text, address) => make("a", { textContent: text, href: new URL(address, ROOT).href });
  /** Return a button; about : what it is about, for those who hear it alone. */
  const button = (text, action, about = "") => {
    const each = make("button", { type: "button", textContent: text, onclick: action });
    if (about) each.setAttribute("aria-label", `${text}: ${about}`);
    return each;
  };
  const statusLine = () => {
    const line = make("p", { className: "home-status" });
    line.setAttribute("role", "status");
    return line;
  };

  // What is known

  const lastCheck = (name) => {
    try {
      const { time, holding, claims, attempts } = JSON.parse(read("checked", name));
      const isOne = typeof time === "string" && [holding, claims, attempts].every(Number.isInteger);
      return isOne ? { time, holding, claims, attempts } : null;
    } catch {
      return null;
    }
  };
  const isPutOff = (name) => new RegExp(`^\\s*from \\S+ import ${name}\\s*$`).test(read("answer", name) ?? "");
  const stateOf = (name) => {
    if (read("solved", name) !== null) return "solved";
    return lastCheck(name) || read("answer", name) !== null ? "begun" : "open";
  };
  const solvedIn = (exercises) => exercises.filter(({ name }) => stateOf(name) === "solved").length;
  const heading = ({ lesson, title }) => `${lesson.split("_")[0]} ${title}`;
  const pageOf = ({ lesson }) => `${lesson}/${lesson}.html`;
  // What a page cannot check is in its lesson, which says how to get more.
  const exercisePage = (lesson, { name, runs }) => (runs ? `exercises/${name}.html` : `${pageOf(lesson)}#exercise-${name.replace(/_/g, "-")}`);

  const isRequired = ({ optional }) => !optional;
  const requiredOf = ({ exercises }) => exercises.filter(isRequired);
  const optionalOf = ({ exercises }) => exercises.filter(({ optional }) => optional);

  /** Return the minutes that the rest of a lesson's core takes. */
  const minutesLeft = (lesson) => restOf(requiredOf(lesson), lesson.minutes);
  /** Return those of Going further: without exercises it is never done. */
  const furtherLeft = (lesson) => (optionalOf(lesson).length ? restOf(optionalOf(lesson), lesson.further) : lesson.further);

  /** Return how many of the minutes are left: reading is shared out by exercises. */
  function restOf(exercises, minutes) {
    const sum = (each) => each.reduce((all, { minutes: one }) => all + one, 0);
    const left = exercises.filter(({ name }) => stateOf(name) !== "solved");
    if (!left.length || !sum(exercises)) return 0;
    return Math.max(5, 5 * Math.round(((sum(left) / sum(exercises)) * minutes) / 5));
  }

  function duration(minutes) {
    if (minutes < 120) return `${minutes} minutes`;
    const halves = Math.round(minutes / 30);
    return `about ${Math.floor(halves / 2)}${halves % 2 ? "½" : ""} hours`;
  }

  /** Return what is solved and left of Going further, "" without one. */
  function furtherWords(lesson) {
    const optional = optionalOf(lesson);
    const left = furtherLeft(lesson);
    const words = [optional.length && `${solvedIn(optional)} of ${optional.length} solved`, left && `${left}${TIE}min`].filter(Boolean);
    return words.length ? `Going further: ${words.join(" · ")}` : "";
  }

  /** Return where to go on: in the core of the lesson worked in last, or after it; else null. */
  function continueHere(lessons) {
    const all = lessons.flatMap((lesson) => lesson.exercises.map((exercise) => ({ lesson, exercise, last: lastOf(exercise.name) })));
    const isLeft = ({ exercise }) => !exercise.optional && stateOf(exercise.name) !== "solved";
    const isNext = (each) => isLeft(each) && !isPutOff(each.exercise.name);
    const latest = all.reduce((best, each) => (each.last > (best?.last ?? "") ? each : best), null);
    let order = all;
    if (latest) {
      if (isNext(latest)) return latest;
      const at = all.indexOf(latest);
      const own = all.filter(({ lesson }) => lesson === latest.lesson);
      const others = [...all.slice(at + 1), ...all.slice(0, at)].filter(({ lesson }) => lesson !== latest.lesson);
      const inLesson = own.indexOf(latest);
      order = [...own.slice(inLesson + 1), ...own.slice(0, inLesson), ...others];
    }
    return order.find(isNext) ?? all.find(isLeft) ?? null;
  }

  /** Return when an exercise was worked on last, "" if it never was. */
  function lastOf(name) {
    return [read("solved", name), lastCheck(name)?.time, rowsOf(name)[0]?.time].filter(Boolean).sort().pop() ?? "";
  }

  // Files

  function save(name, text, type) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }

  async function fetched(name) {
    const response = await fetch(new URL(name, HERE), { cache: "no-cache" });
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    return response.json();
  }
  const frameOf = (lesson) => fetched(`notebooks/${encodeURIComponent(lesson)}.ipynb`);
  const OUT_OF_REACH = "The lesson's notebook could not be loaded, and nothing was changed: try again when you are online.";

  async function download(lesson, say) {
    let text;
    try {
      text = notebooks.textOf(notebooks.filled(await frameOf(lesson), lesson));
    } catch (error) {
      console.info(`The course: ${error.message}`);
      say(OUT_OF_REACH);
      return;
    }
    save(`${lesson}.ipynb`, text, "application/x-ipynb+json");
    say(`${lesson}.ipynb has your answers and predictions. In the course's folder it goes into work/${lesson}/.`);
  }

  /**
   * Take what a file has; return a sentence on it.
   *
   * lesson : whose notebook is expected, "" if any
   */
  async function upload(file, lesson) {
    const name = file.name.length > 60 ? `${file.name.slice(0, 60)}…` : file.name;
    if (file.size > MOST_BYTES) return `${name} has ${Math.round(file.size / 2 ** 20)} MB, more than a notebook of this course: clear its outputs, save it and try again.`;
    let all;
    let words = "";
    try {
      const data = notebooks.parsed(await file.text(), name);
      if (notebooks.WHOLE in data) all = notebooks.takenFromWhole(data);
      else {
        const course = await fetched("course.json").catch(unreachable);
        const lessons = notebooks.lessonsOf(data, course, name);
        const frames = await Promise.all(lessons.map(async (each) => [each, await frameOf(each).catch(unreachable)]));
        all = notebooks.taken(data, new Map(frames)); // from here on nothing else runs
        if (lesson && !lessons.includes(lesson)) {
          const own = course.lessons.find((each) => each.lesson === lessons[0]);
          words = `It is the notebook of ${heading(own)}, and was read as that: `;
        }
      }
    } catch (error) {
      if (error instanceof notebooks.Refusal) return error.message;
      console.info(`The course: ${error.message}`);
      return `${name} could not be read, and nothing was changed.`;
    }
    const changes = [...all.changes.values()];
    if (!storage.keepAll(changes)) {
      return storage.trouble() === "blocked"
        ? "Your browser keeps nothing for this site, so nothing was taken: allow it to, and try again."
        : "There is no room for it in your browser's storage, so nothing was taken: what you had is as it was.";
    }
    tell(changes);
    return words + notebooks.account(all);
  }

  function unreachable(error) {
    console.info(`The course: ${error.message}`);
    throw new notebooks.Refusal(OUT_OF_REACH);
  }

  /** Let this page's editors and marks know, as the browser tells other tabs. */
  function tell(changes) {
    for (const [kind, name, newValue] of changes) {
      dispatchEvent(new StorageEvent("storage", { key: `${KEY} ${kind} ${name}`, newValue }));
    }
  }

  /** Return a button that lets files be chosen, and reads them. */
  function uploader(lesson, say, title = "") {
    const input = make("input", { type: "file", hidden: true, multiple: !lesson, accept: ".ipynb,.json,application/json" });
    input.addEventListener("change", async () => {
      const sentences = [];
      for (const file of input.files) {
        const sentence = await upload(file, lesson);
        sentences.push(input.files.length > 1 ? `${file.name}: ${sentence}` : sentence);
      }
      input.value = ""; // the same file again is a choice too
      say(sentences.join("\n"));
    });
    return [button("Upload", () => input.click(), title), input];
  }

  // Parts of other pages

  function fillProgress() {
    for (const span of document.querySelectorAll("span.progress[data-exercises]")) {
      const exercises = span.dataset.exercises.split(/\s+/).filter(Boolean).map((name) => ({ name }));
      const isBegun = exercises.some(({ name }) => stateOf(name) !== "open");
      span.textContent = isBegun ? `${solvedIn(exercises)} of ${exercises.length} solved` : "";
    }
  }

  function notebookRow(lesson, title = "") {
    const status = statusLine();
    const say = (text) => { status.textContent = text; };
    const row = make("div", { className: "home-buttons" }, button("Download my notebook", () => download(lesson, say), title), ...uploader(lesson, say, title));
    return [row, status];
  }

  function offerNotebook(block) {
    const words = "Your answers and predictions of this lesson as a notebook: to go on in JupyterLab, to hand in, or for another browser. Upload brings one back.";
    block.append(make("p", { textContent: words }), ...notebookRow(block.dataset.lesson));
  }

  // Home

  class Home {
    constructor(container) {
      this.container = container;
      this.lessons = JSON.parse(container.querySelector("script").textContent).lessons;
      this.top = make("div", { className: "home-top" });
      this.states = new Map(); // what changes, by lesson
      const rows = this.lessons.map((lesson) => this.row(lesson));
      const here = continueHere(this.lessons);
      if (here) this.states.get(here.lesson).details.open = true;
      container.replaceChildren(this.top, make("ol", { className: "home-lessons" }, ...rows), ...this.keeping());
      this.draw();
    }

    row(lesson) {
      const [state, list] = [make("p", { className: "home-state" }), make("ul", { className: "home-exercises" })];
      const details = make("details", {}, make("summary", { textContent: "Exercises and notebook" }), list, ...notebookRow(lesson.lesson, heading(lesson)));
      details.querySelector("summary").append(make("span", { className: "home-heard", textContent: ` of lesson ${heading(lesson)}` }));
      const further = make("p", { className: "home-further" });
      this.states.set(lesson, { state, further, list, details });
      const question = lesson.question ? [make("p", { className: "home-question", textContent: lesson.question.replace(/[*`$]/g, "") })] : [];
      return make("li", {}, make("h2", {}, link(heading(lesson), pageOf(lesson))), ...question, state, further, details);
    }

    draw() {
      const all = this.lessons.flatMap(({ exercises }) => exercises);
      const [required, optional] = [this.lessons.flatMap(requiredOf), this.lessons.flatMap(optionalOf)];
      const done = solvedIn(required);
      const [left, further] = [minutesLeft, furtherLeft].map((rest) => this.lessons.reduce((sum, each) => sum + rest(each), 0));
      const totals = make("p", { className: "home-state" }, bar(done, required.length), make("strong", { textContent: `${done} of ${required.length} exercises solved` }));
      if (optional.length) totals.append(`, and ${solvedIn(optional)} of ${optional.length} optional`);
      if (left) totals.append(` · ${duration(left)} left`);
      if (further) totals.append(" · ", make("em", { textContent: "Going further" }), ` ${duration(further)}${left ? " more" : ""}`);
      this.top.replaceChildren(...this.trouble(), ...this.next(all), totals);
      for (const [lesson, { state, further, list }] of this.states) {
        const required = requiredOf(lesson);
        const solved = solvedIn(required);
        const minutes = minutesLeft(lesson);
        const rest = minutes ? `${minutes}${TIE}min` : required.length ? "done" : "";
        const parts = [required.length && `${solved} of ${required.length} solved`, rest].filter(Boolean);
        state.replaceChildren(bar(solved, required.length), parts.join(" · "));
        further.textContent = furtherWords(lesson);
        list.replaceChildren(...lesson.exercises.map((each) => this.exercise(lesson, each)));
      }
    }

    exercise(lesson, exercise) {
      const state = stateOf(exercise.name);
      const check = lastCheck(exercise.name);
      let words = "open";
      if (state === "solved") words = "solved";
      else if (state === "begun") words = check ? `begun, ${check.holding} of ${check.claims} claims hold` : "begun";
      if (state !== "solved") words += `, ${exercise.minutes} min`;
      if (!exercise.runs) words += ", in JupyterLab";
      const mark = make("span", { textContent: MARKS[state] });
      mark.setAttribute("aria-hidden", "true");
      return make("li", {}, mark, " ", link(exercise.name, exercisePage(lesson, exercise)), `${exercise.optional ? " · optional" : ""} · ${words}`);
    }

    next(all) {
      const here = continueHere(this.lessons);
      if (!here) return [this.allSolved()];
      const isFirst = all.every(({ name }) => stateOf(name) === "open");
      const line = make("p", { className: "home-next" }, make("strong", { textContent: `${isFirst ? "Start" : "Continue"} here:` }), " ", link(heading(here.lesson), pageOf(here.lesson)));
      if (isFirst) line.append(` · ${here.lesson.minutes}${TIE}min`);
      else line.append(", exercise ", link(here.exercise.name, exercisePage(here.lesson, here.exercise)), ` · ${here.exercise.minutes}${TIE}min`);
      const later = this.lessons.flatMap((lesson) => lesson.exercises.map((exercise) => ({ lesson, exercise })))
        .filter(({ exercise }) => isRequired(exercise) && isPutOff(exercise.name) && stateOf(exercise.name) !== "solved" && exercise !== here.exercise);
      if (!later.length) return [line];
      const links = later.flatMap(({ lesson, exercise }, index) => [index ? ", " : " ", link(exercise.name, exercisePage(lesson, exercise))]);
      return [line, make("p", {}, "Put off until later:", ...links)];
    }

    allSolved() {
      const open = this.lessons.flatMap((lesson) => optionalOf(lesson).map((exercise) => [lesson, exercise])).find(([, { name }]) => stateOf(name) !== "solved");
      if (!open) return make("p", {}, make("strong", { textContent: "Every exercise is solved. Well done." }));
      const [lesson, exercise] = open;
      const line = make("p", {}, make("strong", { textContent: "Every exercise of the core is solved. Well done." }), " Going further: ");
      line.append(link(exercise.name, exercisePage(lesson, exercise)), ", in ", link(heading(lesson), pageOf(lesson)));
      return line;
    }

    trouble() {
      const text = {
        blocked: "Your browser keeps nothing for this site: what you write is gone when you leave its page. Allow it to store data here, or copy what you want to keep.",
        full: "Your browser's storage for this site is full: what you write now is not kept. Download everything below, then delete what you no longer need.",
      }[storage.trouble()];
      return text ? [make("p", { className: "home-trouble", textContent: text })] : [];
    }

    keeping() {
      const status = statusLine();
      const say = (text) => { status.textContent = text; };
      const everything = button("Download everything", () => {
        save("attention-course.json", notebooks.whole(), "application/json");
        say("attention-course.json has all that this browser keeps: Upload brings it back, here or in another browser.");
      });
      const dialog = this.confirmation(say);
      const forget = button("Delete everything that this browser keeps", () => dialog.showModal());
      const words = "Your answers, earlier versions of them, predictions and what is solved are kept by this browser alone, and sent nowhere. Upload takes notebooks of any lesson, and a file of Download everything.";
      const row = make("div", { className: "home-buttons" }, everything, ...uploader("", say), forget);
      return [make("h2", { textContent: "What this browser keeps" }), make("p", { textContent: words }), row, status, dialog];
    }

    confirmation(say) {
      const dialog = make("dialog", { className: "home-dialog" });
      const words = make("p", { id: "home-delete", textContent: "All your answers, earlier versions, predictions and marks of this course are deleted from this browser, for good. Download everything first if you may want them again." });
      dialog.setAttribute("aria-labelledby", words.id);
      const erase = button("Delete", () => {
        dialog.close();
        const keys = storage.names().map((key) => key.split(/ (.*)/s));
        for (const [kind, name] of keys) storage.keep(kind, name, null);
        tell(keys.map(([kind, name]) => [kind, name, null]));
        this.draw();
        say("All of it is deleted.");
      });
      const back = button("Keep it", () => dialog.close());
      back.autofocus = true;
      dialog.append(words, make("div", { className: "home-buttons" }, back, erase));
      return dialog;
    }
  }

  function bar(done, count) {
    const progress = make("progress", { value: done, max: Math.max(count, 1) });
    progress.setAttribute("aria-hidden", "true"); // the words beside it say the same
    return progress;
  }

  document.addEventListener("DOMContentLoaded", () => {
    fillProgress();
    let home = null;
    if (/^https?:$/.test(location.protocol)) {
      document.querySelectorAll(".your-notebook").forEach(offerNotebook);
      const container = document.querySelector(".your-course");
      if (container) home = new Home(container);
    }
    let isWaiting = false;
    const redraw = () => {
      isWaiting = false;
      fillProgress();
      home?.draw();
    };
    addEventListener("storage", ({ key }) => {
      if (isWaiting || (key !== null && !key.startsWith(`${KEY} `))) return;
      isWaiting = true;
      setTimeout(redraw);
    });
    addEventListener("pageshow", ({ persisted }) => persisted && redraw());
  });
})();
