// What a cell shows, as parts of the page. All of it comes from Python as data: texts, an
// SVG of which drawings alone stay, the numbers of a living picture, which a script of the
// book draws, and HTML of which texts and tables stay.

(() => {
  const { make, nodesOf } = attentionCourse.editing;
  const VIEWS = new URL("live/views/", document.currentScript.src);
  const SVG = "svg g path use defs clipPath rect circle ellipse line polyline polygon pattern image linearGradient stop text tspan title".split(" ");
  const RULE = /^\s*\*\s*\{\s*stroke-linejoin: round; stroke-linecap: butt\s*\}\s*$/; // matplotlib's only one
  const views = (attentionCourse.views = {}); // filled by their scripts
  attentionCourse.models = new URL("live/models/", document.currentScript.src).href;
  const loaded = {};
  let count = 0; // of pictures

  /** Load the script of a view, once; return the function that it adds. */
  function viewOf(name) {
    loaded[name] ??= new Promise((resolve, reject) => {
      const script = make("script", {
        src: new URL(`${name}.js`, VIEWS).href,
        onload: () => resolve(views[name]),
        onerror: () => reject(new Error(`${name}.js could not be loaded`)),
      });
      document.head.append(script);
    });
    return loaded[name];
  }

  /** Return an SVG without whatever is no drawing: scripts, links, other documents. */
  function onlyDrawing(text) {
    const page = new DOMParser().parseFromString(text, "image/svg+xml"); // inert
    for (const each of [...page.querySelectorAll("*")]) {
      const isRule = each.localName === "style" && RULE.test(each.textContent);
      if (!SVG.includes(each.localName) && !isRule) each.remove();
      for (const { name, value } of [...each.attributes]) {
        const isLink = /(^|:)(href|src)$/i.test(name) && !/^(#|data:image\/png;)/.test(value);
        if (isLink || /^on/i.test(name)) each.removeAttribute(name);
      }
    }
    return new XMLSerializer().serializeToString(page);
  }

  const base64 = (text) => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));

  function image(alt, address) {
    const made = make("img", { alt, src: address });
    made.style.maxWidth = "100%";
    return made;
  }

  const text = (className) => (output) => make("pre", { className, textContent: output.text, tabIndex: 0 });

  const PARTS = {
    text: text("live-printed"),
    error: text("live-error"),
    html: ({ html }) => make("div", {}, ...nodesOf(html)),
    png: ({ png }) => image("A plot that your cell has drawn", `data:image/png;base64,${encodeURI(png)}`),
    drawing: ({ svg, alt }) => picture("drawing", svg, alt),
    living: ({ svg, alt }) => picture("living", svg, alt),
  };

  function picture(className, svg, alt) {
    const still = image(alt, `data:image/svg+xml;base64,${base64(onlyDrawing(svg))}`);
    return make("figure", { id: `live-picture-${++count}`, className }, still);
  }

  /** Put the outputs of a cell into a part of the page, pictures alive. */
  function show(outputs, place) {
    for (const output of outputs) {
      if (!Object.hasOwn(PARTS, output.kind)) continue;
      const part = PARTS[output.kind](output);
      place.append(make("div", { className: "output" }, part));
      const view = output.kind === "drawing" ? "drawing" : output.view;
      if (part.localName !== "figure" || !/^\w+$/.test(view)) continue;
      part.shows = JSON.stringify([view, output.data]);
      // Without its script the still picture stays.
      viewOf(view).then((enliven) => enliven(part.id, output.data), (error) => console.info(`The course: ${error.message}`));
    }
  }

  attentionCourse.show = show;
})();
