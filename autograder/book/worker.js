// Python in a worker of its own: the page ends one that does not answer, and makes another.
// It loads the files that it is told of, each by its digest, and no others.

let python, interpreter, extras;
const UNLOADED = "What this needs could not be loaded. Your text is still here: try again.";
// Returns a function by its name below `autograder.book.in_page`, such as check.check_json.
const FIND = `
import importlib
import autograder.book.in_page.check
def find(call):
    module, _, name = call.partition(".")
    return getattr(importlib.import_module("autograder.book.in_page." + module), name)
find
`;
const known = new Map(); // addresses of files, and their digests

function whole(response, address) {
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response;
}

const fetched = async (address) => whole(await fetch(address), address);

/** Load Pyodide, NumPy and the course's wheel; return what finds the functions that the page calls. */
async function load({ pyodide, files, later, lock, wheel, extras: more, compiled }) {
  const wasm = `${pyodide}pyodide.asm.wasm`;
  const now = files.filter(([url]) => !compiled || url !== wasm);
  for (const [url, digest] of [...now, ...later]) known.set(url, digest);
  extras = more;
  const plain = self.fetch.bind(self);
  const get = (url) => plain(url, { integrity: known.get(url), credentials: "omit" });
  // All at once: Pyodide would ask for one after the other.
  const first = new Map(now.map(([url]) => [url, get(url)]));
  for (const each of first.values()) each.catch(() => {}); // it is said where it is waited for
  self.fetch = (address) => {
    const url = new URL(address.url ?? address, pyodide).href;
    if (url === wasm) return Promise.resolve(new Response()); // see below
    if (!known.has(url)) return Promise.reject(new TypeError(`${url} is no file of this course`));
    const response = first.get(url) ?? get(url);
    first.delete(url);
    return response;
  };
  const run = async (address) => {
    const text = await (await fetched(address)).text();
    const blob = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    importScripts(blob);
    URL.revokeObjectURL(blob);
  };
  const compile = async () => {
    const response = whole(await first.get(wasm), wasm);
    const isNamed = response.headers.get("content-type") === "application/wasm";
    return isNamed ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
  };
  // Compiled while the scripts load, or by the worker before this one.
  const module = compiled ? Promise.resolve(compiled) : compile();
  module.catch(() => {});
  WebAssembly.instantiateStreaming = async (_, imports) => {
    const code = await module;
    return { module: code, instance: await WebAssembly.instantiate(code, imports) };
  };
  const bytes = fetched(wheel).then((response) => response.arrayBuffer());
  bytes.catch(() => {});
  await run(`${pyodide}pyodide.js`);
  await run(`${pyodide}pyodide.asm.js`);
  await module; // Pyodide never answers if it cannot be had
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
  return { find: py.runPython(FIND), compiled: await module };
}

/** Load what not all requests need, once: an archive of modules, or packages of Pyodide. */
async function loadExtra(name) {
  const { archive, packages, step } = extras[name];
  if (step) postMessage({ step });
  if (archive) interpreter.unpackArchive(await (await fetched(archive)).arrayBuffer(), "zip"); // beside the wheel
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
      ({ compiled }) => postMessage({ ready: true, compiled }),
      (error) => postMessage({ failed: String(error.message ?? error) }),
    );
    return;
  }
  try {
    const { find } = await python;
    if (data.prepare) {
      find("check.prepare")(data.prepare);
      return;
    }
    const missing = (data.extras ?? []).filter((name) => name in extras);
    try {
      for (const name of missing) await loadExtra(name);
    } catch (error) {
      console.info(`The course: ${error.message}`);
      postMessage({ id: data.id, answer: { sentence: UNLOADED } });
      return;
    }
    if (missing.length) postMessage({ id: data.id, begun: true });
    postMessage({ id: data.id, answer: JSON.parse(find(data.call)(data.request)) });
  } catch (error) {
    postMessage({ id: data.id, broken: String(error.message ?? error) });
  }
};
