// Dialogs: one with any content, and the one in which translations are typed.

import { completion } from "./completion.js";
import { button, h, word } from "./dom.js";

export const MARKS = { "": "none", skipped: "skipped, look at it later", multiword: "multi-word expression", name: "name" };

export function open(title, content) {
  const dialog = h("dialog", { "aria-label": title }, h("h2", {}, title), content, h("div", { class: "actions" }, button("Close", () => dialog.close())));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// Type the right translations of a word, a note and, for an entry, a mark. save({typed, note, mark}) says whether it is
// stored; without `typed` only the note and the mark are meant. Resolves to whether something was stored.
export function translationDialog({ source, suggestion, targets, note, mark }, save, { onNote = false } = {}) {
  const target = h("input", { id: "right", dir: "auto", maxlength: 2000, "aria-describedby": "several", spellcheck: "false", autocomplete: "off" });
  const remark = h("textarea", { id: "note", dir: "auto", maxlength: 2000, rows: 2 });
  const marks = mark === undefined ? null : h("select", { id: "mark" }, Object.entries(MARKS).map(([value, label]) => h("option", { value, selected: value === mark }, label)));
  target.value = targets.join(", ");
  remark.value = note ?? "";
  const back = document.activeElement;
  let saved = false;
  const finish = async (noteOnly) => {
    const typed = target.value.trim();
    if (!noteOnly && !typed) return target.focus();
    saved = await save({ ...(noteOnly ? {} : { typed }), note: remark.value.trim(), ...(marks ? { mark: marks.value } : {}) });
    if (saved) dialog.close();
  };
  const form = h("form", { method: "dialog" },
    h("h2", { id: "correct-title" }, "Right translation of ", word(source)),
    h("p", {}, "Suggested: ", word(suggestion)),
    h("label", { for: "right" }, "Translation"), h("div", { class: "field" }, target),
    h("p", { id: "several", class: "soft" }, "Several translations: put commas or semicolons between them."),
    h("label", { for: "note" }, "Note"), remark,
    marks && [h("label", { for: "mark" }, "Mark"), marks],
    h("div", { class: "actions" }, button("Cancel", () => dialog.close()),
      button(marks ? "Keep note and mark only" : "Keep the note only", () => finish(true), { id: "keep-note" }),
      h("button", { type: "submit", class: "primary" }, "Save")));
  const dialog = h("dialog", { "aria-labelledby": "correct-title" }, form);
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => { event.preventDefault(); finish(false); });
    dialog.addEventListener("close", () => { dialog.remove(); if (back?.isConnected) back.focus(); resolve(saved); });
    document.body.append(dialog);
    completion(target, () => "target", (_, typed) => { if (typed) finish(false); }, { several: true });
    remark.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) finish(onNote); });
    dialog.showModal();
    (onNote ? remark : target).focus();
  });
}
