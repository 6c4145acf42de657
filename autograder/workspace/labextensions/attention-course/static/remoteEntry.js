// What JupyterLab loads: a container as module federation wants it, written by hand, so
// that nothing has to be built. It takes Lab's own modules from the shared scope: a second
// copy of one would have other tokens, and Lab would not know them. After a change to a
// script the stamp in package.json is another: tests/workspace/test_toolbar.py says which.
(() => {
  const script = document.currentScript.src;
  let scope = {};

  /** Compare two versions by their numbers, the higher one first. */
  function higherFirst(one, other) {
    const [a, b] = [one, other].map((each) => each.split(/[.-]/).map(Number));
    const differs = a.findIndex((number, i) => number !== b[i]);
    return differs < 0 ? 0 : (b[differs] || 0) - (a[differs] || 0);
  }

  /** Return one of Lab's modules: the copy in use, or else the newest. */
  async function shared(name) {
    const versions = scope[name] || {};
    const numbers = Object.keys(versions).sort(higherFirst);
    const chosen = numbers.find((each) => versions[each].loaded) || numbers[0];
    if (chosen === undefined) throw new Error(`JupyterLab shares no ${name}.`);
    versions[chosen].loaded = 1;
    return (await versions[chosen].get())();
  }

  /** Import a module beside this script, under the same stamp: both are cached long. */
  function beside(name) {
    const address = new URL(name, script);
    address.search = new URL(script).search;
    return import(address.href);
  }

  async function extension() {
    const [notebook, apputils, components, widgets, toolbar] = await Promise.all([
      shared("@jupyterlab/notebook"),
      shared("@jupyterlab/apputils"),
      shared("@jupyterlab/ui-components"),
      shared("@lumino/widgets"),
      beside("toolbar.js"),
    ]);
    const plugin = toolbar.makePlugin({ notebook, apputils, components, widgets });
    return { __esModule: true, default: plugin };
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["attention-course"] = {
    init(given) {
      scope = given;
    },
    async get(name) {
      if (name !== "./extension") throw new Error(`There is no module ${name}.`);
      const exports = await extension();
      return () => exports;
    },
  };
})();
