// The cells of a lesson, to be run and changed in its page. Their names are shared, as in a
// notebook; an exercise's function is the reader's own if there is one. What was changed is
// kept by the browser, and what the book has stored comes back with Original.

(() => {
  const { python, show, storage } = attentionCourse;
  const { make, button, showWorking, textarea, fit } = attentionCourse.editing;
  const DRAWS = /\b(figures|matplotlib|pylab)\b/;
  const FULL = "Your browser does not keep what you change here (its storage is full or blocked).";
  const WAITS = "Waits for what is running …";
  let turn = Promise.resolve(); // of what was asked for last: one cell, or all above one
  let stops = 0; // how often Stop was pressed: what waits then runs no more

  /** Return a sentence whose marked words are code. */
  const sentence = (text) => make("p", { className: "live-uses" },
    ...text.split("`").map((part, index) => (index % 2 ? make("code", { textContent: part }) : part)));

  function setUp(block) {
    const { lesson, cells: steps } = JSON.parse(block.querySelector("script").textContent);
    const cells = []; // those that run, in order
    steps.forEach((about, index) => {
      const element = document.querySelector(`.cell.tag_live-${index}`);
      if (!element) return; // an exercise
      const input = element.querySelector(":scope > .cell_input");
      if (about.needs) {
        const line = `Needs ${about.needs}: the output is stored; `;
        input.after(make("p", { className: "live-needs" }, line, make("code", { textContent: "make lab" }), " runs it."));
      } else cells.push(cellOf(about, element, input));
    });

    function cellOf(about, element, input) {
      const key = `${lesson} ${about.id}`;
      const number = cells.length + 1;
      const stored = element.querySelector(":scope > .cell_output");
      const own = make("div", { className: "cell_output live-output", hidden: true });
      const area = textarea({ hidden: true, className: "live-code" }, () => runOne(cell));
      area.setAttribute("aria-label", `Code of cell ${number}. Shift+Enter runs it.`);
      const status = make("p", { className: "live-status" });
      status.setAttribute("role", "status");
      const named = (text, action) => {
        const made = button(text, action);
        made.setAttribute("aria-label", `${text}, cell ${number}`);
        return made;
      };
      const run = named("Run", () => runOne(cell));
      const above = named("Run all above", () => runAll(cells.slice(0, cells.indexOf(cell))));
      const edit = named("Edit", () => { open(area.value); area.focus(); });
      const original = named("Original", () => {
        area.value = about.text;
        write();
        area.hidden = own.hidden = original.hidden = true;
        input.hidden = edit.hidden = false;
        own.replaceChildren();
        say("");
        stored?.classList.remove("live-replaced");
        run.focus();
      });
      const stop = named("Stop", () => { stops += 1; python.stop(); });
      stop.hidden = original.hidden = true;
      const say = (text) => { status.textContent = text; };
      const open = (text) => {
        area.value = text;
        area.hidden = original.hidden = false;
        input.hidden = edit.hidden = true;
        fit(area, 2);
      };
      const write = () => {
        fit(area, 2);
        const isKept = storage.keep("cell", key, area.value === about.text ? null : area.value);
        if (!isKept) say(FULL);
      };
      const begin = () => {
        showWorking(true, stop, [run, above]);
        python.say = say;
      };
      const end = (result) => {
        showWorking(false, stop, [run, above]);
        say("");
        original.hidden = own.hidden = false;
        stored?.classList.add("live-replaced");
        own.replaceChildren(make("p", { className: "live-own", textContent: "from your run" }));
        if (result.sentence) own.append(make("p", { textContent: result.sentence }));
        else if (result.uses) own.append(sentence(result.uses));
        show(result.outputs ?? [], own);
      };

      area.value = about.text;
      area.addEventListener("input", write);
      area.addEventListener("focus", () => {
        if (python.waiting) return;
        python.say = say;
        python.start();
      });
      const wait = (isOn) => {
        if (isOn) say(WAITS);
        else if (status.textContent === WAITS) say("");
      };
      const cell = { about, area, wait, begin, end, ranIn: null, isAsked: false };
      const row = make("div", { className: "live-cell" }, run, above, edit, original, stop, status);
      input.after(area, row);
      element.append(own);
      above.hidden = number === 1;
      const changed = storage.read("cell", key);
      if (changed !== null && changed !== about.text) open(changed);
      return cell;
    }

    const answersAbove = ({ about }) => Object.fromEntries(
      steps.slice(0, steps.indexOf(about)).filter((each) => each.exercise)
        .map(({ exercise }) => [exercise, storage.read("answer", exercise) ?? ""]));

    /** Run a cell, and show what comes out unless it only lacks what is made above. */
    async function run(cell, mayLack = false) {
      while (python.waiting) await new Promise((resolve) => setTimeout(resolve, 50)); // a check
      cell.begin();
      const text = cell.area.value;
      const extras = cell.about.draws || DRAWS.test(text) ? ["lessons", "drawing"] : ["lessons"];
      const request = { cell: cell.about.id, text, answers: answersAbove(cell) };
      const result = await python.ask("cells.run_json", request, extras);
      if (!result.sentence) cell.ranIn = python.worker;
      if (!mayLack || !result.unknown) cell.end(result);
      return result;
    }

    /** Run once what was asked for before is done, unless that is stopped. */
    const inTurn = (action) => {
      const before = stops;
      const mine = turn.then(() => (stops === before ? action() : undefined));
      turn = mine.catch(() => {});
      return mine;
    };

    const runEach = async (some) => {
      for (const cell of some) {
        const result = await run(cell);
        if (result.stopped || result.sentence) return false;
      }
      return true;
    };
    const runAll = (some) => inTurn(() => runEach(some));
    async function runOne(cell) {
      if (cell.isAsked) return; // it runs, or waits for its turn
      cell.isAsked = true;
      cell.wait(true);
      try {
        await inTurn(() => runWithAbove(cell));
      } finally {
        cell.isAsked = false;
        cell.wait(false);
      }
    }
    async function runWithAbove(cell) {
      const result = await run(cell, true);
      if (!result.unknown) return;
      const above = cells.slice(0, cells.indexOf(cell)).filter((each) => each.ranIn !== python.worker);
      if (!above.length || !(await runEach(above))) cell.end(result);
      else await run(cell);
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (!/^https?:$/.test(location.protocol) || !window.Worker || !window.WebAssembly) return;
    document.querySelectorAll(".live-cells").forEach(setUp);
  });
})();
