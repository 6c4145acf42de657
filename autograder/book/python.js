// Python for the page, in one worker: loaded when it is first needed, ended when it does not
// answer, and started anew after that. It answers one request at a time.

(() => {
  const HERE = new URL("live/", document.currentScript.src);
  const STILL_RUNNING = 12_000; // milliseconds until a reader is told of Stop

  const python = {
    worker: null,
    waiting: null, // the request that runs: its id, and what to call with the answer
    count: 0,
    timer: 0,
    isReady: false,
    wasReady: false, // once: from then on the browser has the files
    next: null, // the exercise that a reader is about to answer
    isKept: false, // what was loaded, for a visit without a network
    compiled: undefined, // Pyodide's code, for the workers after the first
    say: () => {},
    doing: "", // what is said of the request that runs

    async start() {
      if (this.worker) return;
      const mine = (this.worker = { post: [], postMessage(each) { this.post.push(each); }, terminate() {} });
      try {
        const fetched = async (name) => {
          const response = await fetch(new URL(name, HERE), { cache: "no-cache" }); // of no version
          if (!response.ok) throw new Error(`${name}: ${response.status}`);
          return response;
        };
        const [config, text] = await Promise.all([
          fetched("config.json").then((each) => each.json()),
          fetched("worker.js").then((each) => each.text()),
        ]);
        if (this.worker !== mine) return; // stopped meanwhile
        const blob = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
        const worker = new Worker(blob);
        worker.onmessage = ({ data }) => this.worker === worker && this.receive(data);
        worker.onerror = (event) => this.worker === worker && this.fail(event.message);
        worker.postMessage({ load: { ...this.filesOf(config), compiled: this.compiled } });
        mine.post.forEach((each) => worker.postMessage(each));
        this.worker = worker;
        this.say(this.loading());
      } catch (error) {
        if (this.worker === mine) this.fail(error.message);
      }
    },

    loading() {
      return this.wasReady ? "Starting Python …" : "Loading Python: about 10 MB, once …";
    },

    /** Say that something runs, and after a while what ends it; loading is not counted. */
    sayChecking() {
      this.say(this.doing);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.say("Still running. Stop ends it."), STILL_RUNNING);
    },

    /** Return the addresses of all files with their digests. */
    filesOf(config) {
      const pyodide = new URL(config.pyodide, HERE).href;
      const [lock, wheel] = [config.lock, config.wheel].map((each) => new URL(each, HERE).href);
      const files = Object.entries(config.files).map(([name, digest]) => [pyodide + name, digest]);
      files.push([lock, config.lockIntegrity], [wheel, config.wheelIntegrity]);
      const extras = {};
      const later = []; // what not all pages need
      for (const [name, extra] of Object.entries(config.extras)) {
        for (const [file, digest] of Object.entries(extra.files ?? {})) later.push([pyodide + file, digest]);
        const archive = extra.archive && new URL(extra.archive, HERE).href;
        if (archive) later.push([archive, extra.archiveIntegrity]);
        extras[name] = { archive, packages: extra.packages, step: extra.step };
      }
      this.source = new URL(pyodide).host;
      this.files = files;
      this.later = later;
      return { pyodide, files, later, lock, wheel, extras };
    },

    /** Start while nobody waits, unless the reader saves on data or the line is slow. */
    startEarly(name) {
      this.next = name;
      const { saveData, effectiveType } = navigator.connection ?? {};
      if (!saveData && !/2g$/.test(effectiveType)) this.start();
    },

    /** Say how far Python is to a reader who has come to an editor. */
    sayHowFar() {
      this.say(this.isReady ? "Python is ready." : this.loading());
    },

    /** Do once, when nobody waits: load the exercise that comes next, and keep what was loaded. */
    prepare() {
      if (!this.isReady || this.waiting) return;
      if (this.next) this.worker.postMessage({ prepare: this.next });
      this.next = null;
      if (!this.isKept) this.keep();
      this.isKept = true;
    },

    /** Let the browser keep what this page has loaded, for a visit without a network. */
    async keep() {
      try {
        await navigator.serviceWorker.register(new URL("../../service.js", HERE));
        const { active } = await navigator.serviceWorker.ready;
        const loaded = performance.getEntriesByType("resource").map((each) => each.name);
        const own = ["config.json", "worker.js"].map((name) => new URL(name, HERE).href);
        const pages = new Set([location.href, ...own, ...loaded]);
        for (const [url] of [...this.files, ...this.later]) pages.delete(url);
        active.postMessage({ keep: { pages: [...pages], files: this.files, later: this.later } });
      } catch (error) {
        console.info(`The course: nothing is kept for a visit without a network (${error.message})`);
      }
    },

    receive({ step, ready, compiled, failed, id, begun, answer, broken }) {
      if (step) this.say(`${step} …`);
      if (ready) {
        this.isReady = this.wasReady = true;
        this.compiled = compiled;
        if (this.waiting) this.sayChecking();
        else this.say("Python is ready.");
        this.prepare();
      }
      if (failed) {
        navigator.serviceWorker?.controller?.postMessage({ broken: true }); // what it keeps may be
        this.fail(failed);
      }
      if (id === undefined || id !== this.waiting?.id) return;
      if (begun) return this.sayChecking();
      if (broken === undefined) this.answer(answer);
      else {
        console.info(`The course: ${broken}`);
        this.end();
        this.answer({ sentence: "Python broke off, for want of memory most often. It starts anew: try again." });
        this.start();
      }
    },

    fail(reason) {
      this.end();
      const source = this.source ?? HERE.host;
      const sentence = `Python could not be loaded from ${source}. Your text is still here: try again, or use another browser if it is an old one.`;
      console.info(`The course: ${reason}`);
      this.say(sentence);
      this.answer({ sentence });
    },

    end() {
      this.worker?.terminate();
      this.worker = null;
      this.isReady = false;
    },

    answer(result) {
      clearTimeout(this.timer);
      const { resolve } = this.waiting ?? {};
      this.waiting = null;
      resolve?.(result);
      this.prepare();
    },

    /**
     * Call a function below `autograder` with a request; return what it answers.
     * extras: what it needs beyond what all need, by the names in config.json
     */
    ask(call, request, extras = []) {
      this.start();
      this.doing = call === "check.check_json" ? "Checking …" : "Running …";
      if (this.isReady) this.sayChecking();
      else this.say(this.loading());
      return new Promise((resolve) => {
        this.waiting = { id: ++this.count, resolve };
        this.worker.postMessage({ id: this.count, call, request: JSON.stringify(request), extras });
      });
    },

    stop() {
      this.end();
      this.answer({ sentence: "Stopped. Python starts anew." });
      this.start();
    },
  };

  attentionCourse.python = python;
})();
