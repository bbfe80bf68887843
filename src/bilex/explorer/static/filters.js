// The filters of the review list, and the address that keeps them.

import { h } from "./dom.js";
import { DOUBTS } from "./row.js";

const NAMES = ["text", "status", "mark", "doubt", "origin", "min_score", "max_score", "min_margin", "min_confidence", "max_confidence", "min_rank", "max_rank", "script", "part", "order", "ascending"];
const HIDDEN = { nonwords: "non-words", names: "names", given: "words of my dictionary" };
const STATUS = { "": "all", open: "open", decided: "decided", accepted: "accepted", corrected: "corrected", rejected: "rejected", aside: "set aside" };

export function readFilter(query) {
  const filter = Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ""]));
  return { ...filter, order: filter.order || "frequency", ascending: filter.ascending || "true", hide: query.get("hide") ?? "nonwords" };
}

// The parameters of a request.
export function wanted(filter) {
  return { ...filter, hide: filter.hide === "none" ? "" : filter.hide };
}

export function filterAddress(filter) {
  const standard = { order: "frequency", ascending: "true", hide: "nonwords" };
  const kept = new URLSearchParams(Object.entries(filter).filter(([name, value]) => value && value !== standard[name])).toString();
  return `#/lexicon${kept ? `?${kept}` : ""}`;
}

export function filterForm(filter, { scripts, confidence, parts, names_known: namesKnown }, changed) {
  const field = (label, control) => h("label", {}, h("span", {}, label), control);
  const select = (name, options) => {
    const made = h("select", { name }, Object.entries(options).map(([value, label]) => h("option", { value }, label)));
    made.value = filter[name];
    return made;
  };
  const input = (name, more) => {
    const made = h("input", { name, ...more });
    made.value = filter[name];
    return made;
  };
  const figure = { type: "number", step: "0.01" };
  const share = { ...figure, min: 0, max: 1 };
  const rank = { type: "number", min: 1, step: 1 };
  const chosen = new Set(filter.hide.split(","));
  const hide = h("fieldset", { class: "hide" }, h("legend", {}, "Hide"), Object.entries(HIDDEN).filter(([name]) => namesKnown || name !== "names").map(([name, label]) =>
    h("label", { class: "check" }, h("input", { type: "checkbox", name: "hide", value: name, checked: chosen.has(name) }), label)));
  const narrow = matchMedia("(max-width: 44rem)").matches; // on a phone the list comes first
  const more = h("details", { class: "more", open: isUsed(filter) }, h("summary", {}, "More filters"), h("div", { class: "filters" },
    narrow && hide,
    field("From", select("origin", { "": "all", given: "dictionary", found: "vectors" })),
    field("Doubt", select("doubt", { "": "any or none", any: "at least one", ...DOUBTS })),
    field("Mark", select("mark", { "": "any or none", skipped: "skipped", multiword: "multi-word", name: "name" })),
    scripts.length > 1 && field("Script", select("script", { "": "all", ...Object.fromEntries(scripts.map((name) => [name, name])) })),
    parts.length > 0 && field("Part of speech", select("part", { "": "all", ...Object.fromEntries(parts.map((name) => [name, name])) })),
    field("Frequency rank from", input("min_rank", rank)), field("to", input("max_rank", rank)),
    confidence && [field("Confidence from", input("min_confidence", share)), field("to", input("max_confidence", share))],
    field("Score from", input("min_score", figure)), field("to", input("max_score", figure)), field("Margin from", input("min_margin", figure))));
  const form = h("form", { class: "filter", "aria-label": "Filter" }, h("div", { class: "filters" },
    field("Text", input("text", { type: "search", dir: "auto", maxlength: 200, spellcheck: "false" })), field("Status", select("status", STATUS)), narrow ? null : hide), more);
  let timer = 0;
  const read = (event) => {
    for (const control of form.elements) if (control.name && control.type !== "checkbox" && control.name in filter) filter[control.name] = control.value.trim();
    filter.hide = [...form.querySelectorAll("[name=hide]:checked")].map((box) => box.value).join(",") || "none";
    clearTimeout(timer);
    timer = setTimeout(changed, event.type === "input" && event.target.type !== "checkbox" ? 150 : 0);
  };
  form.addEventListener("input", read);
  form.addEventListener("submit", (event) => { event.preventDefault(); read(event); });
  return form;
}

function isUsed(filter) {
  return ["origin", "doubt", "mark", "script", "part", "min_rank", "max_rank", "min_confidence", "max_confidence", "min_score", "max_score", "min_margin"].some((name) => filter[name]);
}
