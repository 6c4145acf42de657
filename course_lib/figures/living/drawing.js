// Puts a drawing where its image is: inside the page its ink can be the page's text colour
// and its ground the page's own, in a light and in a dark theme. The image stays for
// printing, and where no script runs.

function inline(name) {
  for (const figure of document.querySelectorAll(`figure[id="${name}"]`)) {
    if (figure.dataset.inline) continue;
    const image = figure.querySelector("img");
    const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (letter) => letter.charCodeAt(0));
    // Ids and a rule for "*" would hold in the whole page.
    const text = new TextDecoder().decode(bytes)
      .replace(/(\sid="|href="#|url\(#)/g, `$1${name}-`)
      .replace("*{", `#${name} svg *{`);
    const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    if (svg.nodeName !== "svg") continue;
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", image.alt);
    figure.append(document.importNode(svg, true));
    figure.dataset.inline = "yes";
  }
}
