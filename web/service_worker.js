// The page opens without a connection: its own files are kept, and the network comes first for the page itself. Nothing
// of the interface is kept here. Also shows notifications where only a service worker can, and opens what they are about.

const CACHE = "/static/HASH/";

/** Keeps the page and all files that it names. */
async function keepAll() {
  const cache = await caches.open(CACHE);
  const page = await fetch("/", { headers: { Accept: "text/html" } });
  if (!page.ok) throw new Error(`the page is not there: ${page.status}`);
  const names = [...(await page.clone().text()).matchAll(/"(\/static\/[^"]+)"/g)].map(([, name]) => name);
  await cache.put("/", page);
  await cache.addAll([...new Set(names)].filter((name) => name.startsWith(CACHE)));
  await self.skipWaiting();
}

self.addEventListener("install", (event) => event.waitUntil(keepAll()));

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  // Files that are served from a folder change all the time.
  if (request.method !== "GET" || url.origin !== location.origin || CACHE === "/static/folder/") return;
  if (url.pathname.startsWith(CACHE)) {
    event.respondWith(
      caches.open(CACHE).then(async (cache) => {
        const kept = await cache.match(request);
        if (kept) return kept;
        const response = await fetch(request);
        if (response.ok) await cache.put(request, response.clone());
        return response;
      }),
    );
  } else if (request.mode === "navigate" && url.pathname === "/") {
    event.respondWith(
      fetch(request)
        .then(async (response) => {
          if (response.ok) await (await caches.open(CACHE)).put("/", response.clone());
          return response;
        })
        .catch(async () => (await caches.match("/")) ?? Response.error()),
    );
  }
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const fragment = event.notification.data?.fragment ?? "";
  const show = async () => {
    const [page] = await self.clients.matchAll({ type: "window" });
    if (!page) return self.clients.openWindow(`/#${fragment}`);
    page.postMessage({ fragment });
    return page.focus();
  };
  event.waitUntil(show());
});
