"use strict";
// The page that the desktop app shows while the person logs in in a browser. The browser gets a key, and shows the token of the
// login encrypted with it. The app sees it on the clipboard, or the person pastes it.
(async () => {
  const element = (id) => document.getElementById(id);
  const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const bytesOf = (text) => Uint8Array.from(text.trim().match(/../g) ?? [], (digits) => parseInt(digits, 16));

  const paste = async () => {
    const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["decrypt"]);
    element("form").hidden = false;
    const pasted = new Promise((resolve) => {
      element("form").onsubmit = async (event) => {
        event.preventDefault();
        try {
          const data = bytesOf(element("token").value);
          const text = await crypto.subtle.decrypt({ name: "AES-GCM", iv: data.slice(0, 12) }, key, data.slice(12));
          resolve(new TextDecoder().decode(text));
        } catch {
          element("bad-token").hidden = false;
        }
      };
    });
    return { key: new Uint8Array(await crypto.subtle.exportKey("raw", key)), pasted };
  };

  const { key, pasted } = window.electron_bridge?.decrypt_clipboard ? window.electron_bridge.decrypt_clipboard(1) : await paste();
  const url = new URL(location.href);
  url.searchParams.set("desktop_flow_otp", hexOf(key));
  element("open").href = url.href;
  window.open(url.href, "_blank");
  location.href = `/accounts/login/subdomain/${encodeURIComponent(await pasted)}`;
})();
