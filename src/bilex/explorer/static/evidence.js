// Examples in context: of a word and of its candidates, side by side.

import { get } from "./api.js";
import { count, h, word } from "./dom.js";

const HOW = "No corpus is attached. Start bilex explore with --source-corpus FILE and --target-corpus FILE to see examples here.";

export async function examples(text, side, candidates, signal, n = 3) {
  const found = await get("examples", { word: text, side, candidate: candidates.slice(0, 12), n }, signal);
  if (!found.corpora.source && !found.corpora.target) return h("p", { class: "soft" }, HOW);
  const attached = found.candidates.filter(Boolean).map((candidate) => column(candidate.word, candidate, ""));
  return h("div", { class: "sides" }, column(text, found.word, "of-word"), attached.length ? attached : h("p", { class: "soft" }, "No corpus of the other language is attached."));
}

function column(text, found, kind) {
  const many = found && (found.more ? `${found.count}+` : count(found.count));
  return h("section", { class: `side ${kind}`, "aria-label": `Examples of ${text}` },
    h("h3", {}, word(text), found ? h("span", { class: "soft" }, ` ${many}`) : ""),
    found === null ? h("p", { class: "soft" }, "no corpus of this language") : found.examples.length ? found.examples.map(example) : h("p", { class: "soft" }, "not in the corpus"));
}

function example({ before, match, after }) {
  return h("p", { class: "example", dir: "auto" }, before, h("mark", {}, match), after);
}

// The pane below a list, which follows the row in the focus.
export function evidencePane(signal) {
  const pane = h("aside", { class: "evidence", "aria-label": "Examples in context", hidden: true, tabindex: -1 });
  let asking = null;
  let timer = 0;
  signal.addEventListener("abort", () => { asking?.abort(); clearTimeout(timer); });
  const load = async (row) => {
    asking?.abort();
    asking = new AbortController();
    const { entry, shown } = row;
    try {
      const content = await examples(entry.source, "source", shown.map((one) => one.word), asking.signal);
      pane.replaceChildren(content);
      pane.dataset.of = entry.source;
      if (row.contains(document.activeElement)) row.scrollIntoView({ block: "nearest" });
    } catch (error) {
      if (error.name !== "AbortError") pane.replaceChildren(h("p", { class: "problem" }, error.message));
    }
  };
  return {
    element: pane,
    follow(row) {
      if (pane.hidden || !row || pane.dataset.of === row.entry.source) return;
      clearTimeout(timer);
      timer = setTimeout(load, 60, row);
    },
    toggle(row, on = pane.hidden) {
      pane.hidden = !on;
      delete pane.dataset.of;
      if (on) this.follow(row);
    },
  };
}
