"use strict";
// The page that the person's browser shows after a login for the desktop app: copies the token.
{
  const copy = document.getElementById("copy");
  copy.onclick = async () => {
    const data = document.getElementById("desktop-data");
    data.select();
    // Without TLS a browser lets no page write to the clipboard.
    if (!navigator.clipboard) return;
    await navigator.clipboard.writeText(data.value);
    document.getElementById("copied").hidden = false;
  };
  copy.focus();
}
