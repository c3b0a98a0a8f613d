/**
 * The count of unread messages in the icon of the page.
 * @module
 */

import { bridge } from "./notifications.js";

/** @param {number} count @returns {string} */
function short(count) {
  for (const [size, unit] of /** @type {[number, string][]} */ ([
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "K"],
  ])) {
    if (count >= size) return `${Math.floor(count / size)}${unit}`;
  }
  return String(count);
}

/** What the icon says. */
let drawn = "";

/** Draws the count into the icon of the tab. @param {number} count @param {boolean} hasDirects @param {string} plain */
export function setIcon(count, hasDirects, plain) {
  const link = document.querySelector("link[rel=icon]");
  const text = short(count);
  const next = `${text} ${hasDirects} ${plain}`;
  if (next === drawn || !(link instanceof HTMLLinkElement)) return;
  drawn = next;
  if (count === 0) {
    link.href = plain;
    return;
  }
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.fillStyle = "#4f46e5";
  context.beginPath();
  context.roundRect(0, 0, 64, 64, 16);
  context.fill();
  context.fillStyle = "#fff";
  context.font = `bold ${text.length > 2 ? 28 : 40}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, 32, 35);
  if (hasDirects) {
    context.fillStyle = "#f59e0b";
    context.beginPath();
    context.arc(54, 10, 10, 0, 7);
    context.fill();
  }
  canvas.toBlob((blob) => {
    // It may say something else by now.
    if (!blob || drawn !== next) return;
    const before = link.href;
    link.href = URL.createObjectURL(blob);
    // The browser may still be loading it.
    if (before.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(before), 10_000);
  });
}

/** Shows the count on the icon of the installed application. @param {number} count */
export function setBadge(count) {
  bridge()?.send_event?.("total_unread_count", count);
  if (count > 0) void navigator.setAppBadge?.(count).catch(() => {});
  else void navigator.clearAppBadge?.().catch(() => {});
}
