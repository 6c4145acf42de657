// What lets the book's pages answer without a network on a second visit. It keeps what they
// have loaded, and asks for nothing that they do not ask for themselves. Files that never change,
// since their address names a version or a page knows their digest, come from the browser's own
// cache: it is quicker than what is kept here, and has their compiled code. All else comes from
// the network first.

const BUILD = "development"; // of the book: another one has other pages
const NAME = `attention-course ${registration.scope}`; // another book may be of this origin
const FILES = `${NAME} files`;
const PAGES = `${NAME} pages ${BUILD}`;
const forget = () => {}; // storage full or blocked: all goes on without it

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) {
    if (name.startsWith(`${NAME} pages `) && name !== PAGES) await caches.delete(name);
  }
  await clients.claim();
})()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || request.headers.has("range")) return;
  const isOurs = request.url.startsWith(registration.scope);
  if (request.integrity) event.respondWith(unchanging(event, FILES, keyOf(request.url, request.integrity)));
  else if (isOurs && hasVersion(request.url)) event.respondWith(unchanging(event, PAGES, pageOf(request)));
  else if (isOurs) event.respondWith(latest(event));
});

self.addEventListener("message", (event) => {
  const { keep, broken } = event.data;
  if (broken) event.waitUntil(caches.delete(FILES).catch(forget));
  if (keep) event.waitUntil(Promise.all([keepFiles(keep.files, keep.later), keepPages(keep.pages)]).catch(forget));
});

/** Return an address that names a file's content too. */
function keyOf(url, integrity) {
  const key = new URL(url);
  key.searchParams.set("integrity", integrity);
  return key.href;
}

/** Return the address of a page without what was asked of it; of a file as it is. */
function pageOf(request) {
  const url = new URL(request.url ?? request);
  url.hash = "";
  if (/(\/|\.html)$/.test(url.pathname)) url.search = "";
  return url.href;
}

const kept = async (name, key) => {
  try {
    return await (await caches.open(name)).match(key, { ignoreVary: true });
  } catch {
    return undefined;
  }
};

const put = async (name, key, response) => {
  try {
    await (await caches.open(name)).put(key, response);
  } catch {
    forget();
  }
};

const isKept = async (name, key) => {
  try {
    return (await (await caches.open(name)).keys(key, { ignoreVary: true })).length > 0;
  } catch {
    return false;
  }
};

const hasVersion = (url) => new URL(url).searchParams.has("v");

/** Return whether two answers are of one version of a file, as far as their servers say. */
function isSame(one, two) {
  const values = ["etag", "last-modified", "content-length"].map((name) => [one.headers.get(name), two.headers.get(name)]);
  return values.some(([value]) => value !== null) && values.every(([first, second]) => first === second);
}

/** Answer from the browser's own cache or the network, else with what is kept. */
async function unchanging(event, name, key) {
  const { request } = event;
  const fromCache = fetch(request, { cache: "force-cache" }).catch(() => undefined); // the digest may be another's
  const [response, isHere] = await Promise.all([fromCache, isKept(name, key)]);
  if (response?.ok) {
    if (!isHere && response.type !== "opaque") event.waitUntil(put(name, key, response.clone()));
    return response;
  }
  return (await kept(name, key)) ?? fetch(request, { cache: "no-cache" });
}

async function latest(event) {
  const key = pageOf(event.request);
  const own = kept(PAGES, key);
  try {
    const response = await fetch(event.request);
    const before = await own;
    const isNew = !before || !isSame(before, response);
    if (isNew && response.ok && response.type === "basic") event.waitUntil(put(PAGES, key, response.clone()));
    return response;
  } catch (error) {
    if (await own) return own;
    throw error;
  }
}

/**
 * Keep the files that a page has loaded, from the browser's own cache; forget all others but
 * those that some pages load later, which are kept once they do.
 */
async function keepFiles(files, later) {
  const cache = await caches.open(FILES);
  const keys = new Map(files.map(([url, integrity]) => [keyOf(url, integrity), { url, integrity }]));
  const others = new Set(later.map(([url, integrity]) => keyOf(url, integrity)));
  for (const { url } of await cache.keys()) {
    if (keys.has(url)) keys.delete(url);
    else if (!others.has(url)) await cache.delete(url);
  }
  for (const [key, { url, integrity }] of keys) {
    const response = await fetch(url, { integrity, credentials: "omit", cache: "force-cache" });
    if (response.ok) await put(FILES, key, response);
  }
}

/** Keep a page and what it has loaded, as the browser's own cache has it. */
async function keepPages(addresses) {
  const own = new Set((await (await caches.open(PAGES)).keys()).map(({ url }) => url));
  for (const url of addresses) {
    const key = pageOf(url);
    if (!url.startsWith(registration.scope) || own.has(key)) continue;
    const response = await fetch(url, { cache: "force-cache" });
    if (response.ok && response.type === "basic") await put(PAGES, key, response);
  }
}
