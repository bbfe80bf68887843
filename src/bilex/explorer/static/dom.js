// Elements made of text: nothing here, or anywhere on this page, ever turns a word into markup.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A word of any script: its direction is its own, and does not turn what stands around it.
export function word(text, attributes = {}) {
  return h("bdi", { dir: "auto", class: "word", ...attributes }, text);
}

// Words with commas between them.
export function listed(words, shown = word) {
  return words.flatMap((text, i) => [i ? ", " : "", shown(text)]);
}

export function wordLink(text, side, attributes = {}) {
  return h("a", { href: wordAddress(text, side), ...attributes }, word(text));
}

export function wordAddress(text, side) {
  return `#/word/${side}/${encodeURIComponent(text)}`;
}

// A figure; nothing where there is none.
export function number(value, digits = 3) {
  if (value === null || value === undefined) return "";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

// A share between 0 and 1 as a percentage; nothing where it is not known.
export function percent(value) {
  return value === null || value === undefined ? "" : `${Math.round(100 * value)} %`;
}

export function count(value) {
  return value.toLocaleString("en");
}

// Who, and when by the clock of the reader.
export function byLine({ reviewer, made }) {
  const when = made ? new Date(made).toLocaleString() : "";
  return [reviewer, when].filter(Boolean).join(", ");
}

export function button(label, onclick, more = {}) {
  return h("button", { type: "button", onclick, ...more }, label);
}

export function say(text) {
  const live = document.getElementById("live");
  live.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { live.textContent = ""; }, 6000);
}

// Arrow keys go through the items of a list of which one at a time is in the tab order.
export function roving(list, selector) {
  const items = () => [...list.querySelectorAll(selector)];
  list.addEventListener("keydown", (event) => {
    if (event.target.closest("input, textarea, select")) return;
    const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
    const all = items();
    const now = all.indexOf(event.target.closest(selector));
    const next = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : now + (step ?? 0);
    if (!all[next] || (!step && !["Home", "End"].includes(event.key))) return;
    event.preventDefault();
    all[next].focus();
  });
  list.addEventListener("focusin", (event) => {
    const item = event.target.closest(selector);
    if (item) items().forEach((other) => { other.tabIndex = other === item ? 0 : -1; });
  });
  const first = items()[0];
  if (first) first.tabIndex = 0;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
