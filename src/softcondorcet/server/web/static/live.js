"use strict";
// A page works without this. With it the table sorts and searches at once, times are told as people tell them, and the
// page follows the board: when the server says that there is a new snapshot, the same address is fetched again and
// the sections that differ are swapped.
(() => {
  const PAUSE = 2000; // milliseconds between two fetches, at least; visitors are spread over as much again
  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const view = { sort: null, find: null };
  const sent = new Map(); // what the server sent, by section: scripts change what is shown

  // Times

  function tellTimes() {
    for (const time of document.querySelectorAll(".fresh time")) {
      time.title ||= time.textContent;
      const seconds = Math.max((Date.now() - Date.parse(time.dateTime)) / 1000, 0);
      const [unit, size] = UNITS.find(([, length]) => seconds >= length) || UNITS[UNITS.length - 1];
      time.textContent = relative.format(-Math.floor(seconds / size), unit);
    }
  }

  // The table

  const numeric = (text) => parseFloat(text.replace(/[^0-9.\u2212-]/g, "").replace("\u2212", "-"));
  const keys = {
    rank: (row) => numeric(row.querySelector(".rank b")?.textContent ?? "") || Infinity,  // without a rank: below
    rating: (row) => numeric(row.querySelector(".rating b")?.textContent ?? ""),
    agent: (row) => row.querySelector(".agent bdi").textContent.toLowerCase(),
    votes: (row) => numeric(row.querySelector(".votes").textContent),
    overall: (row) => numeric(row.querySelector(".overall").textContent.split(" ")[0]) || Infinity,
  };

  function rowsOf(table) {
    return [...table.querySelectorAll("tbody tr:not(.told)")];
  }

  function remember(table) {
    if (table.blocks) return;
    table.ranked = table.querySelector("[data-sort=rank]").closest("th").getAttribute("aria-sort") === "ascending";
    table.blocks = [...table.tBodies].map((body) => [body, [...body.rows]]);
  }

  function sort(table, column, falling) {
    remember(table);
    for (const head of table.tHead.rows[0].cells) {
      const link = head.querySelector("[data-sort]");  // not every column can be sorted by
      const own = link !== null && link.dataset.sort === column;
      if (own) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    const rows = table.blocks.flatMap(([, all]) => all.filter((row) => !row.classList.contains("told")));
    for (const body of [...table.tBodies]) body.remove();
    if (column === "rank" && !falling && table.ranked) {
      for (const [body, all] of table.blocks) { body.append(...all); table.append(body); }
      return;
    }
    const key = keys[column];
    const order = rows.map((row) => [key(row), row]);
    order.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (falling ? -1 : 1));
    const body = document.createElement("tbody");
    body.setAttribute("role", "rowgroup");
    body.append(...order.map(([, row]) => row));
    table.append(body);
  }

  function find(table, text) {
    const part = text.trim().toLowerCase();
    let some = false;
    for (const row of rowsOf(table)) {
      row.hidden = !row.querySelector(".agent bdi").textContent.toLowerCase().includes(part);
      some ||= !row.hidden;
    }
    for (const told of table.querySelectorAll(".told")) told.hidden = Boolean(part);
    const none = document.querySelector("[data-none]");
    if (none) none.hidden = some;
  }

  function address(changes) {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) {
      if (value) url.searchParams.set(name, value);
      else url.searchParams.delete(name);
    }
    history.replaceState(null, "", url);
  }

  // Whether all rows are here: else only the server can sort and search them.
  const whole = () => document.querySelector("[data-table]") && !document.querySelector("[data-more]")
    && !new URL(document.baseURI).searchParams.get("find");

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-sort]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !whole()) return;
    event.preventDefault();
    const rising = link.closest("th").getAttribute("aria-sort") === "ascending";
    view.sort = [link.dataset.sort, rising];
    sort(link.closest("table"), ...view.sort);
    find(link.closest("table"), view.find || "");
    address({ sort: (rising ? "-" : "") + link.dataset.sort });
  });

  document.addEventListener("input", (event) => {
    if (!event.target.matches("[data-find]") || !whole()) return;
    view.find = event.target.value;
    find(document.querySelector("[data-table]"), view.find);
  });

  document.addEventListener("keydown", (event) => {
    const field = document.querySelector("[data-find]");
    if (!field || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !event.target.matches("input, select, textarea")) {
      event.preventDefault();
      field.focus();
      field.scrollIntoView({ block: "center" });
    } else if (event.key === "Escape" && event.target === field && whole()) {
      field.value = view.find = "";
      find(document.querySelector("[data-table]"), "");
    }
  });

  // Following the board

  const sections = (page) => [...page.querySelectorAll("main > [id]")];
  let paused = false, waiting = null, last = Date.now();

  function restore() {
    const table = document.querySelector("[data-table]");
    if (table && view.sort) sort(table, ...view.sort);
    const field = document.querySelector("[data-find]");
    if (table && view.find) { field.value = view.find; find(table, view.find); }
    tellTimes();
    addButton();
  }

  function swap(page) {
    const now = sections(document), next = sections(page);
    const same = now.length === next.length && now.every((section, k) => section.id === next[k].id);
    const inside = document.activeElement;
    if (!same) {
      document.querySelector("main").replaceWith(page.querySelector("main"));
      sent.clear();
      sections(document).forEach((section) => sent.set(section.id, section.innerHTML));
    } else {
      now.forEach((section, k) => {
        const html = next[k].innerHTML;
        // Nothing is taken from under the hands of someone who fills in a form.
        const filled = inside.closest("form");
        if (sent.get(section.id) === html || (filled && section.contains(filled))) return;
        const open = [...section.querySelectorAll("details")].map((details) => details.open);
        const held = section.contains(inside) ? inside.getAttribute("href") || inside.tagName : null;
        section.replaceChildren(...next[k].childNodes);
        sent.set(section.id, html);
        section.querySelectorAll("details").forEach((details, n) => { details.open = open[n] || false; });
        if (held) {
          const again = [...section.querySelectorAll("a, summary, button, [tabindex]")]
            .find((one) => (one.getAttribute("href") || one.tagName) === held);
          if (again) again.focus({ preventScroll: true });
        }
      });
    }
    document.title = page.title;
    document.body.dataset.snapshot = page.body.dataset.snapshot;
    restore();
  }

  async function refresh() {
    waiting = null;
    last = Date.now();
    try {
      const url = new URL(location.href);
      if (whole()) url.searchParams.delete("sort"); // it is done here
      const answer = await fetch(url, { headers: { Accept: "text/html" }, cache: "no-cache" });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!paused && page.body.dataset.snapshot !== document.body.dataset.snapshot) swap(page);
    } catch { /* the server is away: the next event or minute tries again */ }
  }

  function changed() {
    if (paused || waiting || document.hidden) return;
    const rest = Math.max(last + PAUSE - Date.now(), 0);
    waiting = setTimeout(refresh, rest + Math.random() * PAUSE);
  }

  function addButton() {
    const line = document.querySelector("[data-fresh]");
    if (!line || line.querySelector("button")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small live";
    const name = () => { button.textContent = paused ? "Follow the board" : "Pause updates"; };
    button.addEventListener("click", () => { paused = !paused; name(); changed(); });
    name();
    line.append(" ", button);
  }

  sections(document).forEach((section) => sent.set(section.id, section.innerHTML));
  const asked = new URL(location.href).searchParams.get("sort");
  if (asked) view.sort = [asked.replace(/^-/, ""), asked.startsWith("-")];
  tellTimes();
  addButton();
  setInterval(tellTimes, 5000);
  if (document.body.dataset.snapshot) {
    const events = new EventSource("events");
    events.addEventListener("snapshot", (event) => { if (event.data !== document.body.dataset.snapshot) changed(); });
    // Where too many listen already the server hangs up: then a look a minute.
    setInterval(() => { if (events.readyState === EventSource.CLOSED) changed(); }, 60000);
    document.addEventListener("visibilitychange", changed);
  }
})();
