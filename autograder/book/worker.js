// Python in a worker of its own: the page ends one that does not answer, and makes another.
// It loads the files that it is told of, each by its digest, and no others.

let python, interpreter, extras;
const UNLOADED = "What this cell needs could not be loaded. Your text is still here: try again.";
const known = new Map(); // addresses of files, and their digests

async function whole(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response;
}

/** Load Pyodide, NumPy and the course's wheel; return the module whose functions the page calls. */
async function load({ pyodide, files, lock, wheel, extras: later }) {
  for (const [address, digest] of files) known.set(address, digest);
  extras = later;
  const plain = self.fetch.bind(self);
  self.fetch = (address, options) => {
    const url = new URL(address.url ?? address, pyodide).href;
    if (!known.has(url)) return Promise.reject(new TypeError(`${url} is no file of this course`));
    return plain(url, { ...options, integrity: known.get(url), credentials: "omit" });
  };
  const run = async (address) => {
    const text = await (await whole(address)).text();
    const blob = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    importScripts(blob);
    URL.revokeObjectURL(blob);
  };
  const bytes = whole(wheel).then((response) => response.arrayBuffer());
  bytes.catch(() => {}); // it is said where it is waited for
  await run(`${pyodide}pyodide.js`);
  await run(`${pyodide}pyodide.asm.js`);
  const nothing = () => {};
  const py = interpreter = await loadPyodide({
    indexURL: pyodide,
    lockFileURL: lock,
    packages: ["numpy"],
    stdout: nothing,
    stderr: nothing,
  });
  postMessage({ step: "Loading the course" });
  py.unpackArchive(await bytes, "wheel");
  py.setStdin({ error: true });
  return py.runPython("from autograder import browser; browser");
}

/** Load what not all requests need, once: an archive of modules, or packages of Pyodide. */
async function loadExtra(name) {
  const { archive, packages, step } = extras[name];
  if (step) postMessage({ step });
  if (archive) interpreter.unpackArchive(await (await whole(archive)).arrayBuffer(), "zip"); // beside the wheel
  if (packages) {
    const faults = [];
    await interpreter.loadPackage(packages, { messageCallback() {}, errorCallback: (text) => faults.push(text) });
    if (faults.length) throw new Error(faults.join("\n"));
  }
  interpreter.runPython("import importlib; importlib.invalidate_caches()");
  delete extras[name];
}

self.onmessage = async ({ data }) => {
  if (data.load) {
    python = load(data.load);
    python.then(
      () => postMessage({ ready: true }),
      (error) => postMessage({ failed: String(error.message ?? error) }),
    );
    return;
  }
  try {
    const course = await python;
    const missing = (data.extras ?? []).filter((name) => name in extras);
    try {
      for (const name of missing) await loadExtra(name);
    } catch (error) {
      console.info(`The course: ${error.message}`);
      postMessage({ id: data.id, answer: { sentence: UNLOADED } });
      return;
    }
    if (missing.length) postMessage({ id: data.id, begun: true });
    postMessage({ id: data.id, answer: JSON.parse(course[data.call](data.request)) });
  } catch (error) {
    postMessage({ id: data.id, broken: String(error.message ?? error) });
  }
};
