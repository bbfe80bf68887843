// The induced lexicon: filter, sort, and go through it with the keyboard.

import { get } from "./api.js";
import { decisionCell, decisionKeys, onDecision, updateCells } from "./decisions.js";
import { h, listed, number, roving, word, wordLink } from "./dom.js";
import { settle } from "./keys.js";

export const DOUBTS = { low_margin: "low margin", one_sided: "one-sided", hub: "hub" };
const PAGE = 50;
const ORDERS = {
  frequency: ["most frequent first", "frequency", true],
  surest: ["surest first (margin)", "margin", false],
  least: ["least sure first (margin)", "margin", true],
  best: ["best score first", "score", false],
  worst: ["worst score first", "score", true],
  doubts: ["most doubts first", "doubts", false],
};

export async function lexiconView(main, query, signal) {
  const filter = { text: query.get("text") ?? "", status: query.get("status") ?? "", doubt: query.get("doubt") ?? "", origin: query.get("origin") ?? "", least: query.get("least") ?? "", most: query.get("most") ?? "", by: query.get("by") ?? "frequency" };
  let offset = 0;
  const total = h("p", { class: "soft", role: "status" });
  const list = h("ol", { class: "entries", "aria-label": "Entries" });
  const pages = h("div", { class: "pages" });
  main.replaceChildren(h("h1", { tabindex: -1 }, "Lexicon"), filters(filter, () => { offset = 0; remember(filter); return load(); }), total, list, pages);
  onDecision((event) => updateCells(list, event), signal);
  roving(list, "li");
  await load();
  settle();

  async function load(focus = false) {
    const [, order, ascending] = ORDERS[filter.by] ?? ORDERS.frequency;
    const { by, ...wanted } = filter;
    const page = await get("lexicon", { ...wanted, order, ascending, offset, limit: PAGE }, signal);
    const last = Math.min(offset + PAGE, page.total);
    total.textContent = page.total ? `${(offset + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${page.total.toLocaleString("en")}` : "no entry fits";
    list.replaceChildren(...page.entries.map((found) => entry(found, () => last < page.total && turnOver(1))));
    list.querySelector("li")?.setAttribute("tabindex", "0");
    pages.replaceChildren(turn("Back", -1, offset > 0), turn("Next", 1, last < page.total));
    if (focus) list.querySelector("li")?.focus();
  }

  function turn(label, step, possible) {
    return h("button", { type: "button", disabled: !possible, onclick: () => turnOver(step) }, label);
  }

  function turnOver(step) {
    offset += step * PAGE;
    return load(true);
  }
}

// After the last entry of a list comes atEnd().
export function entry(found, atEnd) {
  const pair = { source: found.source, suggestion: found.target };
  const made = h("li", { tabindex: -1, "data-entry": true, "data-verdict": found.decision?.verdict ?? "open" },
    h("span", { class: "pair" }, wordLink(found.source, "source"), h("span", { class: "arrow", "aria-label": "to" }, " → "), listed([found.target, ...found.more], (text) => found.without_vector.includes(text) ? word(text) : wordLink(text, "target"))),
    h("span", { class: "figures soft" }, figures(found)),
    h("span", { class: "doubts" }, found.origin === "given" ? h("span", { class: "tag given", title: "By the dictionary of this run" }, "given") : "", found.doubts.map((doubt) => h("span", { class: "tag" }, DOUBTS[doubt]))), decisionCell(pair, found.decision));
  decisionKeys(made, atEnd);
  made.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === made) location.hash = made.querySelector("a").getAttribute("href");
  });
  return made;
}

// What is given has no margin, and no score where a word has no vector.
function figures({ score, margin }) {
  return [["score", score], ["margin", margin]].filter(([, value]) => value !== null).map(([name, value]) => `${name} ${number(value)}`).join(", ");
}

function filters(filter, changed) {
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
  const form = h("form", { class: "filters", "aria-label": "Filter" },
    field("Text", input("text", { type: "search", dir: "auto", maxlength: 200, spellcheck: "false" })),
    field("Status", select("status", { "": "all", open: "open", accepted: "accepted", rejected: "rejected", corrected: "corrected" })),
    field("From", select("origin", { "": "all", given: "given", found: "found" })),
    field("Doubt", select("doubt", { "": "any or none", any: "at least one", ...DOUBTS })),
    field("Score from", input("least", { type: "number", step: "0.01" })), field("to", input("most", { type: "number", step: "0.01" })),
    field("Order", select("by", Object.fromEntries(Object.entries(ORDERS).map(([name, [label]]) => [name, label])))));
  let timer = 0;
  const read = (event) => {
    for (const control of form.elements) filter[control.name] = control.value.trim();
    clearTimeout(timer);
    timer = setTimeout(changed, event.type === "input" ? 200 : 0);
  };
  form.addEventListener("input", read);
  form.addEventListener("submit", (event) => { event.preventDefault(); read(event); });
  return form;
}

// The address follows the filter, so that a reload shows the same; nothing is loaded for it.
function remember(filter) {
  const kept = new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();
  history.replaceState(null, "", `#/lexicon${kept ? `?${kept}` : ""}`);
}
