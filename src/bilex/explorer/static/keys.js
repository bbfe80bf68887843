// Keys: they work from the moment the page is there, and wherever the focus is but in fields.

const FIELDS = "input:not([type=radio]), textarea, select";
const LIST_KEYS = ["ArrowDown", "ArrowUp", ..."jkarcsnmp123456789"];

// Which key that was; null with a modifier, or while a text is composed. On a keyboard of another script a letter is that of
// the same place on a Latin one, and a digit is that of its place also where it needs Shift, as on French keyboards.
export function keyOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null;
  if (event.key.length > 1) return event.key;
  const digit = /^Digit([1-9])$/.exec(event.code);
  if (digit && !event.shiftKey) return digit[1];
  const place = /^Key([A-Z])$/.exec(event.code);
  return (event.key > "~" && place ? place[1] : event.key).toLowerCase();
}

export function inField(event) {
  return Boolean(event.target.closest(FIELDS));
}

// Calls the action of a key. Where nothing in the list is focused, its keys go back to it, and decide nothing yet.
export function listen(actions) {
  document.addEventListener("keydown", (event) => {
    const key = keyOf(event);
    if (key === null || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (inField(event)) return leave(event, key);
    const action = actions[key];
    const row = LIST_KEYS.includes(key) && !event.target.matches("input") && currentRow();
    if (!action && !row) return;
    event.preventDefault();
    if (action && !event.repeat) action();
    else if (row) row.focus();
  });
}

// Escape leads from a field to the list, and the key that leads to the search field is no part of a word there.
function leave(event, key) {
  const search = event.target.id === "word" && key === "/" && event.target.selectionStart === 0;
  if (key !== "Escape" && !search) return;
  event.preventDefault();
  if (search) return;
  event.target.blur();
  settle();
}

// The keys of a list work as soon as it is there: its current row gets the focus, which is taken from no field.
export function settle() {
  const active = document.activeElement;
  if (active !== document.body && !active.closest("header a, h1")) return;
  (currentRow() ?? document.querySelector("main h1"))?.focus({ preventScroll: true });
}

function currentRow() {
  return document.querySelector('main [data-entry][tabindex="0"]');
}
