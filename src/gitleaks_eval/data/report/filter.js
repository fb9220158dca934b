"use strict";
// The state of the filter stands in the fragment of the address: #q=TEXT&bad=1&at=ID.
const form = document.getElementById("filter");
const items = Array.from(document.querySelectorAll("[data-item]"));
const state = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

function show() {
  const asked = state();
  const words = (asked.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
  const bad = asked.get("bad") === "1";
  form.elements.q.value = asked.get("q") || "";
  form.elements.bad.checked = bad;
  let shown = 0;
  for (const item of items) {
    const text = item.textContent.toLowerCase();
    const fits = words.every((word) => text.includes(word)) && (!bad || item.dataset.item === "bad");
    item.classList.toggle("away", !fits);
    shown += fits ? 1 : 0;
  }
  if (words.length || bad) {
    for (const details of document.querySelectorAll("details")) {
      if (details.querySelector("[data-item]:not(.away)")) details.open = true;
    }
  }
  document.getElementById("shown").textContent = words.length || bad ? `${shown} of ${items.length} shown` : "";
  const at = asked.get("at") && document.getElementById(asked.get("at"));
  if (at) at.scrollIntoView();
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
