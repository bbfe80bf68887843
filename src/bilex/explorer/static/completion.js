// A field that completes words: a combobox with a list below it.

import { get } from "./api.js";
import { h, word } from "./dom.js";

let made = 0;

// All but the last of several words, with what is between them.
const BEFORE_LAST = /^.*[,;、，；]\s*/s;

// `side()` says of which language the words are; `choose(text, typed)` is called when one is taken: from the list, or as
// it was typed. With `several` the field holds words with commas or semicolons between them, and the last is completed.
export function completion(input, side, choose, { several = false } = {}) {
  const id = `completions-${(made += 1)}`;
  const list = h("ul", { id, role: "listbox", class: "completions", hidden: true, "aria-label": "Completions" });
  input.after(list);
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": id, "aria-expanded": "false" })) {
    input.setAttribute(name, value);
  }
  let active = -1;
  let asking = null;

  function before() {
    return (several && BEFORE_LAST.exec(input.value)?.[0]) || "";
  }

  async function ask() {
    asking?.abort();
    const text = input.value.slice(before().length);
    if (!text.trim()) return close();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const words = await get("complete", { text, side: side(), n: 12 }, signal);
      if (!signal.aborted) show(words);
    } catch {
      if (!signal.aborted) close();
    }
  }

  function show(words) {
    if (document.activeElement !== input) return;
    list.replaceChildren(...words.map((text, i) =>
      h("li", { role: "option", id: `${id}-${i}`, "aria-selected": "false", onmousedown: (event) => { event.preventDefault(); take(text, false); } }, word(text))));
    list.hidden = words.length === 0;
    input.setAttribute("aria-expanded", String(words.length > 0));
    mark(-1);
  }

  function mark(place) {
    const options = [...list.children];
    active = place;
    options.forEach((option, i) => option.setAttribute("aria-selected", String(i === place)));
    if (options[place]) {
      input.setAttribute("aria-activedescendant", options[place].id);
      options[place].scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  }

  // No answer that is on its way opens the list again.
  function close() {
    asking?.abort();
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  }

  function take(text, typed) {
    input.value = typed ? text : before() + text;
    close();
    choose(text, typed);
  }

  input.addEventListener("input", ask);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const options = [...list.children];
    if (event.isComposing) return;
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) {
      event.preventDefault();
      asking?.abort();  // who chooses from this list wants no other
      const step = event.key === "ArrowDown" ? 1 : -1;
      mark((active + step + options.length + (active < 0 && step < 0 ? 1 : 0)) % options.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const typed = list.hidden || active < 0;
      const text = typed ? input.value.trim() : options[active].textContent;
      if (text) take(text, typed);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  });
}
