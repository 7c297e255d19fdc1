"use strict";
// One pair of answers after another. Answers and names come from strangers: they are only ever set as text.
(() => {
  const at = (id) => document.getElementById(id);
  const buttons = [...document.querySelectorAll("[data-winner]")];
  let ticket = null;

  const headers = () => (at("token").value ? { Authorization: `Bearer ${at("token").value}` } : {});

  function busy(is) {
    for (const button of buttons) button.disabled = is;
  }

  // What the server says went wrong, and the field for a token where it asks for one.
  async function refused(answer) {
    if (answer.status === 401 || answer.status === 403) at("with-token").hidden = false;
    const said = await answer.json().catch(() => ({}));
    at("said").textContent = `Not done: ${said.detail || answer.status}.`;
  }

  async function deal() {
    ticket = null;
    busy(true);
    at("next").hidden = true;
    const answer = await fetch("match.json", { headers: headers(), cache: "no-store" });
    at("match").hidden = !answer.ok;
    at("empty").hidden = answer.status !== 404;
    if (answer.status === 404) { at("said").textContent = ""; return; }
    if (!answer.ok) { await refused(answer); at("next").hidden = false; return; }
    const match = await answer.json();
    for (const part of ["task", "a", "b"]) { at(part).textContent = match[part]; at(part).scrollTop = 0; }
    for (const side of ["a", "b"]) at(`who-${side}`).textContent = "";
    for (const button of buttons) button.removeAttribute("aria-pressed");
    at("said").textContent = "";
    ticket = match.ticket;
    busy(false);
  }

  async function vote(button) {
    if (!ticket || button.disabled) return;
    busy(true);
    const body = { ticket, winner: button.dataset.winner };
    if (at("voter").value.trim()) body.voter = at("voter").value.trim();
    const answer = await fetch("votes", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers() },
      body: JSON.stringify(body),
    });
    at("next").hidden = false;
    if (!answer.ok) { await refused(answer); busy(false); return; }
    const found = await answer.json();
    ticket = null;
    button.setAttribute("aria-pressed", "true");
    for (const side of ["a", "b"]) at(`who-${side}`).textContent = `was ${found[side]}`;
    at("said").textContent = `Your vote counts. A was ${found.a}, B was ${found.b}.`;
    at("next").focus();
  }

  function guarded(work) {
    return work().catch(() => {
      at("said").textContent = "The server could not be reached.";
      at("next").hidden = false;
      at("match").hidden = false;
    });
  }

  for (const button of buttons) button.addEventListener("click", () => guarded(() => vote(button)));
  at("next").addEventListener("click", () => guarded(deal));
  at("who").addEventListener("submit", (event) => event.preventDefault());
  at("token").addEventListener("change", () => guarded(deal));
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input") || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const button = buttons["1234".indexOf(event.key)];
    if (button && ticket) { event.preventDefault(); guarded(() => vote(button)); }
    if (event.key === "Enter" && !at("next").hidden && !event.target.matches("button, a, summary")) guarded(deal);
  });
  // The page comes with a pair, and a form for where no script runs.
  at("choices").hidden = at("you").hidden = false;
  ticket = at("match").dataset.ticket || null;
  if (!ticket) guarded(deal);
})();
