// Decisions about pairs, and what was changed by any decision; every decision is on disk when the server answers.

import { get, post } from "./api.js";
import { translationDialog } from "./dialog.js";
import { byLine, count, h, listed, say } from "./dom.js";
import { inField, keyOf } from "./keys.js";

const KEYS = { a: "accepted", r: "rejected", c: "corrected" };
const LABELS = { accepted: "Accept", rejected: "Reject", corrected: "Correct" };
const changed = new EventTarget();

// Called with {source, suggestion, decision, state} whenever a decision was made or taken back, with {many: true} when
// there were many; ends with `signal`.
export function onDecision(listener, signal) {
  changed.addEventListener("decision", (event) => listener(event.detail), { signal });
}

export function announce(detail, answer) {
  showCounts(answer.decided);
  changed.dispatchEvent(new CustomEvent("decision", { detail: { ...detail, state: answer.state, decision: answer.decision } }));
}

export async function decide(pair, verdict, more = {}) {
  try {
    const answer = await post("decide", { ...pair, verdict, ...more });
    const right = answer.decision?.targets.length ? answer.decision.targets.join(", ") : pair.suggestion;
    say([`${pair.source} – ${right}: ${answer.decision?.verdict ?? "open again"}`, ...unknownNotes(answer.unknown)].join("; "));
    announce(pair, answer);
    return true;
  } catch (error) {
    say(error.message);
    return false;
  }
}

// Words that no vector is known of stay in the lexicon all the same.
export function unknownNotes(unknown) {
  if (!unknown.length) return [];
  const [are, them] = unknown.length > 1 ? ["are", "them"] : ["is", "it"];
  return [`note that ${unknown.join(", ")} ${are} not in the target table: align cannot learn from ${them}`];
}

export async function undo() {
  try {
    const answer = await post("undo");
    if (!answer.words) return say("There is nothing to take back.");
    const [first] = answer.pairs;
    say(first ? `Taken back: ${first.source} – ${first.suggestion}` : `Taken back: ${count(answer.words)} words`);
    if (!first) announce({ many: true }, answer);
    for (const pair of answer.pairs) announce(pair, { ...answer, decision: pair.decision });
  } catch (error) {
    say(error.message);
  }
}

export function showCounts(decided) {
  const parts = Object.entries(decided).filter(([, number]) => number).map(([verdict, number]) => `${count(number)} ${verdict}`);
  document.getElementById("counts").textContent = parts.join(", ");
}

export async function refreshCounts() {
  const status = await get("status");
  showCounts(status.decided);
  return status;
}

// The buttons of one pair, and what was decided about it. `item` is the row that they stand in.
export function decisionCell(pair, decision) {
  const cell = h("span", { class: "decision", "data-source": pair.source, "data-suggestion": pair.suggestion });
  redraw(cell, pair, decision);
  return cell;
}

// Keys on a row: a, r and c. The focus goes on to the next row at once, and comes back if nothing could be decided.
export function decisionKeys(row) {
  let deciding = false;
  row.addEventListener("keydown", async (event) => {
    const verdict = KEYS[keyOf(event)];
    if (!verdict || inField(event)) return;
    event.preventDefault();
    event.stopPropagation();
    if (deciding || event.repeat) return;
    deciding = true;
    const next = row.nextElementSibling;
    if (verdict !== "corrected") next?.focus();
    const cell = row.querySelector(".decision");
    const decided = await act(pairOf(cell), verdict, cell.decision);
    if (!decided) row.focus();
    else if (verdict === "corrected") next?.focus();
    deciding = false;
  });
}

export function updateCells(root, { source, suggestion, decision }) {
  for (const cell of root.querySelectorAll(".decision")) {
    if (cell.dataset.source === source && cell.dataset.suggestion === suggestion) redraw(cell, { source, suggestion }, decision);
  }
}

function pairOf(cell) {
  return { source: cell.dataset.source, suggestion: cell.dataset.suggestion };
}

function redraw(cell, pair, decision) {
  cell.decision = decision;
  const now = decision?.verdict ?? "open";
  const buttons = Object.entries(LABELS).map(([verdict, label]) =>
    h("button", {
      type: "button", class: `verdict ${verdict}`, "aria-pressed": String(now === verdict), title: `${label} (${label[0].toLowerCase()})`,
      "aria-label": `${label} ${pair.source} – ${pair.suggestion}`, onclick: () => act(pair, verdict, cell.decision),
    }, label));
  const told = [];
  if (decision?.verdict === "corrected") told.push("→ ", listed(decision.targets));
  if (decision?.note) told.push(" ", h("q", { dir: "auto", class: "note" }, decision.note));
  if (decision?.reviewer) told.push(" ", h("span", { class: "soft", dir: "auto", title: byLine(decision) }, decision.reviewer));
  const focused = cell.contains(document.activeElement) ? [...cell.querySelectorAll("button")].indexOf(document.activeElement) : -1;
  cell.replaceChildren(...buttons, h("span", { class: "told" }, told));
  cell.closest("[data-entry]")?.setAttribute("data-verdict", now);
  if (focused >= 0) cell.querySelectorAll("button")[focused].focus();
}

// Accepting what is accepted opens it again. Whether something was decided.
async function act(pair, verdict, decision) {
  if (verdict === "corrected") return correct(pair, decision);
  return decide(pair, decision?.verdict === verdict ? "open" : verdict);
}

function correct(pair, decision) {
  return translationDialog({ ...pair, targets: decision?.targets ?? [], note: decision?.note }, ({ typed, note }) => {
    if (typed === undefined) return decide(pair, decision?.verdict ?? "open", { note });
    return typed === pair.suggestion ? decide(pair, "accepted", { note }) : decide(pair, "corrected", { target: typed, note });
  });
}
