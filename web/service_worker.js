// The page opens without a connection: its own files are kept, and the network comes first for the page itself. Nothing
// of the interface is kept here. Also shows push notifications, and others where only a service worker can, and opens what
// they are about.

const CACHE = "/static/HASH/";

/** What another program shares, until the page takes it. */
const SHARED = "shared";
const MAX_SHARED_FILES = 20;

/** The most characters of a shared text. Any site can share one, and as a draft it takes the room of other unsent texts. */
const MAX_SHARED_TEXT = 100_000;

/** Keeps what is shared for the page, which asks to whom it goes: nothing is sent by itself. @param {Request} request */
async function keepShared(request) {
  const form = await request.formData();
  const texts = ["title", "text", "url"].map((name) => form.get(name)).filter((text) => typeof text === "string" && text !== "");
  await caches.delete(SHARED);
  const cache = await caches.open(SHARED);
  await cache.put("/shared/text", new Response([...new Set(texts)].join("\n").slice(0, MAX_SHARED_TEXT)));
  const files = form.getAll("files").filter((file) => file instanceof File && file.size > 0);
  for (const [index, file] of files.slice(0, MAX_SHARED_FILES).entries()) {
    const headers = { "Content-Type": file.type, "X-Name": encodeURIComponent(file.name || "file") };
    await cache.put(`/shared/${index}`, new Response(file, { headers }));
  }
  return Response.redirect("/", 303);
}

/** Keeps the page and all files that it names, and the words that an earlier version kept: the browser updates this worker also
 * while no page is open. */
async function keepAll() {
  const cache = await caches.open(CACHE);
  const page = await fetch("/", { headers: { Accept: "text/html" } });
  if (!page.ok) throw new Error(`the page is not there: ${page.status}`);
  const names = [...(await page.clone().text()).matchAll(/"(\/static\/[^"]+)"/g)].map(([, name]) => name);
  await cache.put("/", page);
  await cache.addAll([...new Set(names)].filter((name) => name.startsWith(CACHE)));
  for (const name of await caches.keys()) {
    for (const { url } of await (await caches.open(name)).keys()) {
      const [, words] = url.split("/words/");
      if (words) await cache.add(`${CACHE}words/${words}`).catch(() => {});
    }
  }
  await self.skipWaiting();
}

self.addEventListener("install", (event) => event.waitUntil(keepAll()));

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== CACHE && name !== SHARED).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method === "POST" && url.origin === location.origin && url.pathname === "/share") {
    event.respondWith(keepShared(request));
    return;
  }
  // Files that are served from a folder change all the time.
  if (request.method !== "GET" || url.origin !== location.origin || CACHE === "/static/folder/") return;
  if (url.pathname.startsWith(CACHE)) {
    event.respondWith(
      caches.open(CACHE).then(async (cache) => {
        // A script that could not be loaded is asked for again with a query.
        const kept = await cache.match(request, { ignoreSearch: true });
        if (kept) return kept;
        const response = await fetch(request);
        // A full disk keeps no file from the page.
        if (response.ok) event.waitUntil(cache.put(request, response.clone()).catch(() => {}));
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

/** A text in the language of the page, whose words are kept. @param {string} text */
async function t(text) {
  try {
    const cache = await caches.open(CACHE);
    const words = (await cache.keys()).find(({ url }) => new URL(url).pathname.startsWith(`${CACHE}words/`));
    return (await (await cache.match(words)).json())[text] ?? text;
  } catch {
    // English has no catalogue.
    return text;
  }
}

/** The paths of the client. Other pages of this server, such as the documentation, show no messages. */
const PATHS = ["/", "/login", "/login/", "/accounts/login/", "/desktop_home/"];

/** The open pages of the client, the one that was used last first. */
async function openPages() {
  const all = await self.clients.matchAll({ type: "window" });
  return all.filter(({ url }) => PATHS.includes(new URL(url).pathname));
}

/** Shows what the server pushed. A push that shows nothing costs the subscription in some browsers, so that what cannot be read is
 * shown as well. A page with the focus shows messages itself. */
async function showPush(data) {
  let notice = {};
  try {
    notice = data.json();
  } catch {
    // Something is shown for it.
  }
  const { id = 0, tag = "push", fragment = "", body = "", icon, count = 1, time, close = [] } = notice;
  const title = notice.title ?? (await t("New messages"));
  const shown = await self.registration.getNotifications();
  for (const one of shown) if (close.includes(one.tag)) one.close();
  const pages = await openPages();
  if (pages.some((page) => page.focused && page.visibilityState === "visible")) return;
  // A page in the background may have notified of it.
  const isKnown = shown.some((one) => one.tag === tag && id > 0 && one.data?.id >= id);
  await self.registration.showNotification(count > 1 ? `${title} (${count})` : title, {
    body,
    tag,
    icon: icon ?? `${CACHE}icon.png`,
    renotify: !isKnown,
    silent: isKnown,
    timestamp: (time ?? Date.now() / 1000) * 1000,
    data: { fragment, id, count },
  });
  const all = await self.registration.getNotifications();
  await self.navigator.setAppBadge?.(all.reduce((sum, one) => sum + (one.data?.count ?? 1), 0));
}

/** Ends when the pushes that came before are shown. */
let shownBefore = Promise.resolve();

// Pushes come together after a time without a connection. They are shown in turn: what one of them closes may come with the one
// before, and Chromium forgets a notification that it is about to show while another push asks for those that are shown.
self.addEventListener("push", (event) => {
  const shown = shownBefore.then(() => showPush(event.data));
  shownBefore = shown.catch(() => {});
  event.waitUntil(shown);
});

/** Gives the server the new subscription of the browser. Where the token cannot be read, the page does so when it is opened. */
async function renewSubscription({ newSubscription, oldSubscription }) {
  const options = oldSubscription?.options;
  const subscription = newSubscription ?? (options && (await self.registration.pushManager.subscribe(options)));
  const cookies = (await self.cookieStore?.getAll()) ?? [];
  // The host may have that of another session besides, as for the page.
  const names = ["__Host-teamchat_csrf", "teamchat_csrf"];
  if (location.protocol === "http:") names.reverse();
  const [token] = names.flatMap((wanted) => cookies.filter(({ name }) => name === wanted));
  if (!subscription || !token) return;
  const { endpoint, keys } = subscription.toJSON();
  await fetch("/json/users/me/web_push", {
    method: "POST",
    headers: { Accept: "application/json", "X-CSRFToken": token.value },
    body: new URLSearchParams({ endpoint, p256dh: keys.p256dh, auth: keys.auth }),
    credentials: "same-origin",
  });
}

self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renewSubscription(event)));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const fragment = event.notification.data?.fragment ?? "";
  const show = async () => {
    const [page] = await openPages();
    if (!page) return self.clients.openWindow(`/#${fragment}`);
    page.postMessage({ fragment });
    return page.focus();
  };
  event.waitUntil(show());
});
