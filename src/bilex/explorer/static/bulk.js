// Accept many entries at once: those of the list that are open and above a threshold. One step back takes all of it back.

import { get, post } from "./api.js";
import { announce } from "./decisions.js";
import { button, count, h, say } from "./dom.js";
import { wanted } from "./filters.js";

const MEASURES = { min_confidence: "confidence", min_margin: "margin", min_score: "score" };

export function acceptMany(filter, { confidence }) {
  const names = Object.keys(MEASURES).filter((name) => confidence || name !== "min_confidence");
  const measure = h("select", { id: "measure" }, names.map((name) => h("option", { value: name }, MEASURES[name])));
  const threshold = h("input", { id: "threshold", type: "number", step: "0.01" });
  const many = h("p", { id: "many", role: "status" });
  const accept = h("button", { type: "submit", class: "primary", disabled: true }, "Accept");
  let shown = null;
  let asking = null;

  // The stricter of the threshold of the list and this one.
  function chosen() {
    const name = measure.value;
    const bounds = [filter[name], threshold.value].filter((text) => text !== "").map(Number);
    return { ...wanted(filter), status: "open", [name]: bounds.length ? Math.max(...bounds) : "" };
  }

  async function preview() {
    asking?.abort();
    asking = new AbortController();
    accept.disabled = true;
    if (threshold.value === "") return void (many.textContent = "Give a threshold.");
    try {
      shown = { filter: chosen(), total: (await get("lexicon", { ...chosen(), limit: 1 }, asking.signal)).total };
      many.textContent = shown.total ? `${count(shown.total)} open entries of this list have it.` : "No open entry of this list has it.";
      accept.textContent = shown.total ? `Accept ${count(shown.total)}` : "Accept";
      accept.disabled = shown.total === 0;
    } catch (error) {
      if (error.name !== "AbortError") many.textContent = error.message;
    }
  }

  async function perform(event) {
    event.preventDefault();
    if (accept.disabled) return;
    accept.disabled = true;
    try {
      const answer = await post("accept-all", { count: shown.total }, shown.filter);
      dialog.close();
      say(`${count(answer.count)} entries accepted; u takes all of them back`);
      announce({ many: true }, answer);
    } catch (error) {
      many.textContent = error.message;
    }
  }

  const form = h("form", { method: "dialog", onsubmit: perform },
    h("h2", { id: "bulk-title" }, "Accept many"),
    h("p", {}, "Accepts the first translation of every open entry that the filters of the list let through and that has at least this"),
    h("div", { class: "threshold" }, h("label", { for: "measure", class: "hidden" }, "Measure"), measure, h("label", { for: "threshold", class: "hidden" }, "Threshold"), threshold),
    many, h("div", { class: "actions" }, button("Cancel", () => dialog.close()), accept));
  const dialog = h("dialog", { "aria-labelledby": "bulk-title", class: "bulk" }, form);
  form.addEventListener("input", preview);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  threshold.focus();
  preview();
}
