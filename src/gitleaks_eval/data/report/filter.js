"use strict";
// The state of the filter stands in the fragment of the address: #q=TEXT&bad=1&at=ID.
const form = document.getElementById("filter");
const items = Array.from(document.querySelectorAll("[data-item]"));
const state = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
const texts = new Map();
let filtered = false;

function textOf(item) {
  // Read once, and only where somebody searches: it is most of what opening a large page would take.
  if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
  return texts.get(item);
}

function narrow(words, bad) {
  let shown = 0;
  for (const item of items) {
    const fits = (!bad || item.dataset.item === "bad") && words.every((word) => textOf(item).includes(word));
    item.classList.toggle("away", !fits);
    shown += fits ? 1 : 0;
  }
  filtered = words.length > 0 || bad;
  if (filtered) {
    for (const item of items) {
      for (let at = item.parentElement; !item.classList.contains("away") && at; at = at.parentElement) {
        if (at.tagName === "DETAILS") at.open = true;
      }
    }
  }
  document.getElementById("shown").textContent = filtered ? `${shown} of ${items.length} shown` : "";
}

function show() {
  const asked = state();
  const words = (asked.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
  const bad = asked.get("bad") === "1";
  form.elements.q.value = asked.get("q") || "";
  form.elements.bad.checked = bad;
  if (words.length || bad || filtered) narrow(words, bad);
  const at = document.getElementById(asked.get("at") || decodeURIComponent(location.hash.slice(1)));
  if (at) {
    for (let one = at; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    at.scrollIntoView();
  }
}

function keep() {
  const asked = new URLSearchParams();
  if (form.elements.q.value) asked.set("q", form.elements.q.value);
  if (form.elements.bad.checked) asked.set("bad", "1");
  history.replaceState(null, "", asked.toString() ? `#${asked}` : "#");
  show();
}

form.classList.remove("no-script");
form.addEventListener("input", keep);
form.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("hashchange", show);
show();
