// What can be downloaded: the lexicon in a format of one's choice, and the files that bilex itself works with.

import { fetchFile } from "./api.js";
import { open } from "./dialog.js";
import { count, h } from "./dom.js";
import { store, stored } from "./session.js";

const FORMATS = {
  xlsx: "Spreadsheet (.xlsx), to look through or to review", tsv: "Text with tabs (.tsv)", tmx: "Translation memory (.tmx)",
  tbx: "Terminology (.tbx)", stardict: "Dictionary programs (StarDict, in a .zip)", jsonl: "For programs (.jsonl)",
};
const WITH_LANGUAGES = ["tmx", "tbx", "stardict"];
const FILES = [
  ["dictionary", "A dictionary for the next alignment", "what this run learnt from, with your decisions applied; for bilex align --train"],
  ["corrections", "Only your pairs", "what you accepted and corrected; by itself mostly too little to learn from"],
  ["decisions", "All decisions, with names and times", "to keep, or for another person to add under People"],
];

export function downloads(names) {
  const files = FILES.flatMap(([what, label, use]) => [
    h("dt", {}, h("a", { href: `/api/export?what=${what}`, download: `${what}.${what === "decisions" ? "sqlite" : "tsv"}`, "data-file": what }, label)), h("dd", {}, use)]);
  open("Download", [lexiconForm(names), h("h3", {}, "Other files"), h("dl", { class: "files" }, files)]);
}

function lexiconForm(names) {
  const kind = h("select", { id: "format" }, Object.entries(FORMATS).map(([value, label]) => h("option", { value, selected: value === stored("format") }, label)));
  const which = h("select", { id: "which" }, h("option", { value: "" }, "all"), h("option", { value: "true" }, "only those that were accepted or corrected"));
  const language = (side) => h("input", { id: `${side}-language`, size: 8, maxlength: 40, spellcheck: "false", autocapitalize: "none", value: codeOf(names[side]) });
  const [source, target] = [language("source"), language("target")];
  const told = h("span", { class: "soft", role: "status" });
  const start = h("button", { type: "submit", class: "primary", id: "get-lexicon" }, "Download the lexicon");
  const field = (label, control) => [h("label", { for: control.id }, label), control];
  const languages = h("div", {}, field(`Code of ${names.source}`, source), field(`Code of ${names.target}`, target));
  const form = h("form", { class: "export" }, h("h3", {}, "The lexicon"),
    h("div", { class: "soft" }, "For each word what you decided, else what the dictionary gives, else the best translation found."),
    h("div", {}, field("Format", kind), field("Words", which)), languages, start, told);
  const change = () => { languages.hidden = !WITH_LANGUAGES.includes(kind.value); };
  kind.addEventListener("change", () => { store("format", kind.value); change(); });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    start.disabled = true;
    told.textContent = "The file is being made …";
    const wanted = { format: kind.value, decided: which.value, source_language: source.value.trim(), target_language: target.value.trim() };
    try {
      const { content, leftOut } = await fetchFile("export/lexicon", wanted);
      save(content, `${names.source}-${names.target}.${kind.value === "stardict" ? "zip" : kind.value}`);
      told.textContent = leftOut ? `${count(leftOut)} pairs were left out, because the format cannot hold their words.` : "Downloaded.";
    } catch (error) {
      told.textContent = error.message;
    }
    start.disabled = false;
  });
  change();
  return form;
}

// The name of a language, where it is a code already.
function codeOf(name) {
  return /^[a-z]{2,3}$/.test(name) ? name : "";
}

function save(content, name) {
  const link = h("a", { href: URL.createObjectURL(content), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
