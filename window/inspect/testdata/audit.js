// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Looks at the page as it is drawn, and returns what is wrong with it.
(() => {
const where = e => {
  const name = e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (e.getAttribute("class") ? "." + e.getAttribute("class").trim().replace(/\s+/g, ".") : "");
  return e.parentElement && !e.id ? where(e.parentElement).split(" > ").slice(-2).join(" > ") + " > " + name : name;
};
const parse = text => {
  const m = text.match(/[\d.]+/g).map(Number);
  return [m[0], m[1], m[2], m.length > 3 ? m[3] : 1];
};
const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
const luminance = c => [0, 1, 2].map(i => c[i] / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((t, v, i) => t + v * [.2126, .7152, .0722][i], 0);
const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)]; return (Math.max(x, y) + .05) / (Math.min(x, y) + .05); };
const backs = e => e ? over(parse(getComputedStyle(e).backgroundColor), backs(e.parentElement)) : [255, 255, 255, 1];
const seen = e => e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) && !e.closest("script, style, defs, clipPath, title, desc, option");

const texts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  if (!node.data.trim() || !node.parentElement || !seen(node.parentElement)) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const boxes = [...range.getClientRects()].filter(r => r.width > 0 && r.height > 0);
  if (boxes.length) texts.push({node, e: node.parentElement, boxes});
}

const low = [];
let worst = 99;
for (const {node, e} of texts) {
  const style = getComputedStyle(e), drawn = e.closest("svg") ? style.fill : style.color;
  const back = backs(e), size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
  const ratio = contrast(over(parse(drawn), back), back);
  worst = Math.min(worst, ratio);
  if (ratio < (large ? 3 : 4.5)) low.push(`${ratio.toFixed(2)} ${where(e)}: ${node.data.trim().slice(0, 40)}`);
}

// Colours that carry meaning: what a legend's swatch and a bar's piece are filled with.
const faint = [];
for (const e of document.querySelectorAll(".swatch:not(.hatch), svg.chart .piece, .meter i, .strip i")) {
  if (!seen(e) || e.getBoundingClientRect().width < 1) continue;
  const style = getComputedStyle(e), colour = parse(e.closest("svg") ? style.fill : style.backgroundColor), back = backs(e.closest(".card"));
  const ratio = contrast(over(colour, back), back);
  if (ratio < 3) faint.push(`${ratio.toFixed(2)} ${where(e)}`);
}

// Boxes that a user sees: what is scrolled out of a part that scrolls is not there.
const shown = (box, e) => {
  let r = {left: box.left, right: box.right, top: box.top, bottom: box.bottom};
  for (let p = e; p && p !== document.body; p = p.parentElement) {
    if (p.namespaceURI !== "http://www.w3.org/1999/xhtml" || getComputedStyle(p).overflowX === "visible") continue;
    const b = p.getBoundingClientRect();
    r = {left: Math.max(r.left, b.left), right: Math.min(r.right, b.right), top: Math.max(r.top, b.top), bottom: Math.min(r.bottom, b.bottom)};
  }
  return r.right - r.left > 1 && r.bottom - r.top > 1 ? r : null;
};
const visible = texts.flatMap(({node, e, boxes}) => boxes.map(b => ({node, e, box: shown(b, e)}))).filter(t => t.box);
const wide = document.documentElement.clientWidth, outside = [], overlaps = [];
for (const {node, e, box} of visible)
  if (box.left < -1 || box.right > wide + 1) outside.push(`${where(e)}: ${node.data.trim().slice(0, 40)}`);
for (let i = 0; i < visible.length; i++) for (let j = i + 1; j < visible.length; j++) {
  const a = visible[i], b = visible[j];
  if (a.node === b.node) continue;
  const dx = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left), dy = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
  if (dx > 2 && dy > 4) overlaps.push(`${where(a.e)} "${a.node.data.trim().slice(0, 30)}" and ${where(b.e)} "${b.node.data.trim().slice(0, 30)}"`);
}
const cards = [...document.querySelectorAll(".card")].filter(seen);
for (let i = 0; i < cards.length; i++) for (let j = i + 1; j < cards.length; j++) {
  const a = cards[i].getBoundingClientRect(), b = cards[j].getBoundingClientRect();
  if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) overlaps.push(where(cards[i]) + " and " + where(cards[j]));
}

const small = [...document.querySelectorAll("button, select, input, summary, a")].filter(seen).filter(e => { const r = e.getBoundingClientRect(); return Math.min(r.width, r.height) < 23.5; }).map(where);
const headings = [...document.querySelectorAll("h1, h2, h3, h4")].filter(seen).map(e => +e.tagName[1]);
const skips = headings.filter((h, i) => h > (i ? headings[i - 1] : 0) + 1);
const ids = [...document.querySelectorAll("[id]")].map(e => e.id);

return {
  texts: texts.length, worst: +worst.toFixed(2), low, faint, outside: [...new Set(outside)], overlaps: [...new Set(overlaps)], small: [...new Set(small)],
  scrolls: document.documentElement.scrollWidth - wide, skips: skips.length, twice: ids.filter((id, i) => ids.indexOf(id) !== i),
  lang: document.documentElement.lang, title: document.title,
};
})()
