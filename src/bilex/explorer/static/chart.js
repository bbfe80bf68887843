// The word and its surroundings on two planes, before and after the alignment, with the same words as a list.

import { get } from "./api.js";
import { h, roving, svg, word, wordAddress } from "./dom.js";

const WIDTH = 460;
const HEIGHT = 340;
const EDGE = 26;
const LINE = 13;

export async function chart(text, side, names, signal) {
  const data = await get("map", { word: text, side }, signal);
  const planes = { before: "Before: each language in its own space", after: "After: in the shared space" };
  const figures = Object.entries(planes).map(([name, title]) =>
    h("figure", {}, h("figcaption", {}, title), draw(data.points, name, title),
      h("p", { class: "soft" }, `shows ${Math.round(100 * data.shown[name])} % of the differences`)));
  const list = h("ul", { class: "points", "aria-label": "Words on the map" }, data.points.map((point, i) =>
    h("li", {}, h("a", { href: wordAddress(point.word, point.side), tabindex: -1, "data-point": i, class: point.side },
      mark(point.side), word(point.word), h("span", { class: "hidden" }, ` (${names[point.side]})`)))));
  roving(list, "a");
  const legend = h("p", { class: "legend" }, mark("source"), names.source, " ", mark("target"), names.target);
  const all = h("div", { class: "map" }, h("div", { class: "planes" }, figures), h("div", {}, legend, list));
  highlightTogether(all);
  return all;
}

function draw(points, name, title) {
  const places = scaled(points.map((point) => point[name]));
  const taken = places.map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]);
  const order = points.map((_, i) => i).sort((a, b) => Number(points[b].self) - Number(points[a].self));
  const marks = points.map((point, i) => shape(point, ...places[i], i));
  const labels = order.map((i) => label(points[i], ...places[i], i, taken)).filter(Boolean);
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}; the words are in the list beside it` }, marks, labels);
}

function scaled(points) {
  const bounds = [0, 1].map((axis) => {
    const values = points.map((point) => point[axis]);
    return [Math.min(...values), Math.max(...values)];
  });
  const place = (value, [low, high], size) => EDGE + (high > low ? (value - low) / (high - low) : 0.5) * (size - 2 * EDGE);
  return points.map(([x, y]) => [place(x, bounds[0], WIDTH), HEIGHT - place(y, bounds[1], HEIGHT)]);
}

function shape(point, x, y, i) {
  const attributes = { class: `mark ${point.side}${point.self ? " self" : ""}`, "data-point": i };
  const size = point.self ? 7 : 4.5;
  const made = point.side === "source"
    ? svg("circle", { ...attributes, cx: x, cy: y, r: size })
    : svg("rect", { ...attributes, x: x - size, y: y - size, width: 2 * size, height: 2 * size });
  made.append(svg("title", {}, point.word));
  return made;
}

// A label where there is room for it; without room the word is in the list only.
function label(point, x, y, i, taken) {
  const wide = 7 * Math.min(point.word.length, 24);
  for (const [dx, dy, anchor] of [[9, 4, "start"], [-9, 4, "end"], [0, -10, "middle"], [0, 18, "middle"]]) {
    const left = anchor === "start" ? x + dx : anchor === "end" ? x + dx - wide : x - wide / 2;
    const box = [left, y + dy - LINE + 2, left + wide, y + dy + 3];
    const inside = box[0] >= 0 && box[2] <= WIDTH && box[1] >= 0 && box[3] <= HEIGHT;
    const free = taken.every((other) => box[2] < other[0] || box[0] > other[2] || box[3] < other[1] || box[1] > other[3]);
    if (!inside || !(free || point.self)) continue;
    taken.push(box);
    // The place of a label is that of its left or right end on the plane, whatever the direction of the script.
    const text = svg("text", { x: anchor === "end" ? box[2] : anchor === "middle" ? x : left, y: y + dy, class: point.side, "text-anchor": anchor, direction: "ltr", "data-point": i });
    text.textContent = `\u2068${point.word.length > 24 ? `${point.word.slice(0, 23)}…` : point.word}\u2069`;
    return text;
  }
  return null;
}

function mark(side) {
  const made = side === "source" ? svg("circle", { cx: 6, cy: 6, r: 5 }) : svg("rect", { x: 1, y: 1, width: 10, height: 10 });
  return svg("svg", { class: `key ${side}`, viewBox: "0 0 12 12", "aria-hidden": "true" }, made);
}

function highlightTogether(root) {
  const light = (event, on) => {
    const i = event.target.closest?.("[data-point]")?.dataset.point;
    if (i === undefined) return;
    root.querySelectorAll(`[data-point="${i}"]`).forEach((element) => element.classList.toggle("lit", on));
  };
  for (const [name, on] of [["mouseover", true], ["focusin", true], ["mouseout", false], ["focusout", false]]) {
    root.addEventListener(name, (event) => light(event, on));
  }
}
