"use strict";
(() => {
  const live = document.getElementById("live");
  if (live && live.dataset.events) follow(live, live.dataset.events);

  // Replaces the standings when they change. What a reader scrolled, opened or focused stays.
  function follow(live, address) {
    const status = document.getElementById("status");
    const events = new EventSource(address);
    const show = (event) => {
      const wide = [...live.querySelectorAll(".wide")].map((node) => node.scrollLeft);
      const inside = [...live.querySelectorAll("[tabindex], a")];
      const focused = inside.indexOf(document.activeElement);
      // Made by the coordinator, which escapes all text of others.
      live.innerHTML = JSON.parse(event.data);
      [...live.querySelectorAll(".wide")].forEach((node, place) => { node.scrollLeft = wide[place] ?? 0; });
      if (focused >= 0) [...live.querySelectorAll("[tabindex], a")][focused]?.focus({ preventScroll: true });
    };
    events.addEventListener("standings", show);
    // A refused answer ends the events; after a lost connection, the browser asks again.
    events.addEventListener("error", () => {
      if (events.readyState === EventSource.CLOSED) status.textContent += " (not live: load the page again)";
    });
    events.addEventListener("end", (event) => {
      show(event);
      status.textContent = document.getElementById("state").textContent;
      events.close();
    });
  }

  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };
  if (document.getElementById("stage")) {
    document.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const link = document.getElementById(keys[event.key] ?? "");
      if (!link) return;
      event.preventDefault();
      link.click();
    });
  }
})();
