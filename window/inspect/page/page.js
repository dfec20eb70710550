"use strict";
(() => {
// The data comes from json.Marshal and reaches the page as text and attributes only:
// nothing here makes markup of it.
const data = JSON.parse(document.getElementById("data").textContent);
const calls = [], runs = [], texts = {}, totals = data.totals, head = read();

// read reads the lines of the format. A slot holds a part from its line on; a call knows
// its own slots as ranges.
function read() {
  const slots = new Map();
  let head = {};
  for (const l of data.lines || []) {
    if (l.conversation) { head = l.conversation; runs.push(...head.runs || []); } else if (l.part) {
      const p = l.part;
      if (p.text) texts[p.text] = l.text ?? "";
      if (!slots.has(l.slot)) slots.set(l.slot, []);
      slots.get(l.slot).push([calls.length, p]);
    } else if (l.call) {
      const at = calls.length, same = l.same || 0, added = ids(l.new), of = id => { const all = slots.get(id) || []; let i = all.length - 1; while (i > 0 && all[i][0] > at) i--; return all[i] && all[i][0] <= at ? all[i][1] : null; };
      const isNew = id => (l.new || []).some(([from, to]) => from <= id && id <= to);
      l.call.parts = () => ids(l.slots).map((id, i) => { const p = of(id); return p && {...p, state: i < same ? "same" : isNew(id) ? "new" : "moved"}; }).filter(Boolean);
      l.call.added = added.map(of).filter(Boolean);
      l.call.whole = Boolean(l.slots);
      calls.push(l.call);
    }
  }
  return head;
}
function ids(ranges) {
  const all = [];
  for (const [from, to] of ranges || []) for (let id = from; id <= to; id++) all.push(id);
  return all;
}

const CATEGORIES = {
  own_tools: "Agent's own tools", help_tools: "einolean's own tools", loaded_tools: "Loaded tools", system: "System",
  reminder: "Names of hidden tools", user: "User", assistant: "Assistant", found: "Search answers", result: "Results",
  result_cut: "Results, cut", result_cleared: "Results, cleared", program: "Printed by programs", page: "Pages read back",
};
// GROUPS are the colors: each category belongs to one.
const GROUPS = {
  tools: "Tools", names: "Instructions and names", talk: "Talk", results: "Results",
};
const MEMBERS = {
  tools: ["own_tools", "help_tools", "loaded_tools"],
  names: ["system", "reminder"],
  talk: ["user", "assistant", "found"],
  results: ["result", "result_cut", "result_cleared", "program", "page"],
};
const groupOf = category => Object.keys(MEMBERS).find(g => MEMBERS[g].includes(category)) || "talk";
const MARKS = {
  search: ["searched", "talk", "M2.6 2.6 4.4 4.4M-1 3.2A3.4 3.4 0 1 1-.9 3.2z"],
  plus: ["tools loaded", "tools", "M0-3.6V3.6M-3.6 0H3.6"],
  cut: ["result cut", "results", "M-4-3.5 4 3.5M4-3.5-4 3.5"],
  clear: ["result cleared", "results", "M-4 3.6H4M-2.6.8H2.6M-1.2-2H1.2"],
  program: ["program", "results", "M-1.6-3.6-4 0l2.4 3.6M1.6-3.6 4 0 1.6 3.6"],
  back: ["read back", "results", "M4 3V.5A2.5 2.5 0 0 0 1.5-2H-4M-1.8-4.4-4-2l2.2 2.4"],
};
const CAUSES = {
  tools_loaded: "Tools were loaded, and definitions come before all messages.",
  tools_unloaded: "The tool definitions changed, and they come before all messages.",
  reminder: "The list of hidden tools changed.",
  result_cut: "A result was cut.",
  result_cleared: "An old result was cleared.",
  other: "Something in front changed.",
};
// ADVICE says what to set next, by the kind that package inspect chose.
const ADVICE = {
  tools: "Set {0}: definitions of tools are {1} of the {2} tokens sent.",
  results: "Set {0}: long and old results are {1} of the {2} tokens sent.",
  hide_above: "Raise {0}: einolean's own tools, names of hidden tools and searches are {1} of the {2} tokens sent, more than hiding saved.",
  read_back: "Raise {0}: results that were read back are {1} of the {2} tokens sent.",
  leave_out: "Leave einolean out of this agent: its tools and results are too small to save anything.",
  nothing: "Change nothing: no setting promises to save a twentieth of the {2} tokens sent.",
};
const color = group => `var(--c-${group})`;

// say is a text of ours in the language of the page: the page's own, or the browser's. {0} is its
// first value. What users, models and tools wrote is never translated.
const chinese = (data.language || navigator.language || "").toLowerCase().startsWith("zh"), labels = chinese ? data.labels || {} : {};
const say = (text, ...values) => String(Object.hasOwn(labels, text) ? labels[text] : text).replace(/\{(\d)\}/g, (as, i) => values[i] ?? as);

// ---- small helpers

const byID = id => document.getElementById(id);
const put = (e, attributes, children) => {
  for (const name in attributes || {}) {
    if (name === "on") for (const event in attributes.on) e.addEventListener(event, attributes.on[event]);
    else if (name === "style") e.style.cssText = attributes.style;
    else if (attributes[name] != null) e.setAttribute(name, attributes[name]);
  }
  e.append(...children.flat(Infinity).filter(c => c != null && c !== false));
  return e;
};
const el = (tag, attributes, ...children) => put(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => put(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const sum = (list, f) => (list || []).reduce((t, x) => t + f(x), 0);
const n = x => Math.round(x).toLocaleString("en-US");
const percent = x => Math.round(100 * x) + " %";
const short = x => x >= 1e6 ? +(x / 1e6).toFixed(x >= 1e7 ? 0 : 1) + " M" : x >= 1000 ? +(x / 1000).toFixed(1) + " k" : n(x);
// middle leaves out the middle of a long text: a question's end says as much as its start.
const middle = (text, most) => {
  const all = [...text], end = Math.floor((most - 1) / 2);
  return all.length <= most ? text : all.slice(0, most - 1 - end).join("").trimEnd() + "…" + (end ? all.slice(-end).join("").trimStart() : "");
};
const clip = (text, most) => text.length > most ? text.slice(0, most) + "…" : text;
const score = x => Math.abs(x) >= 1e6 ? x.toExponential(1) : +x.toFixed(2) + "";
const plural = (count, word) => say(count === 1 && !chinese ? `{0} ${word}` : `{0} ${word}s`, n(count));
// factor is how often b goes into a: 12.3x, and 1.04x where one digit would hide a difference.
const factor = (a, b) => { const x = a / Math.max(1, b); return (x < 1.1 ? x.toFixed(2) : x.toFixed(1)) + "x"; };
const isSame = (a, b) => Math.abs(a - b) < .005 * Math.max(a, b, 1);
const runOf = c => runs.find(r => r.n === c.run);
const textOf = id => texts[id] ?? say("(This text was not kept.)");

const isProgram = l => l.rule === "program" || Boolean(l.calls);

// ---- what the calls say together

for (const c of calls) {
  c.did ||= []; c.events ||= []; c.by ||= {};
  c.sent = c.tokens.estimated;
  c.leftOut = (c.left_out.cut || 0) + (c.left_out.cleared || 0) + (c.left_out.referred || 0) + (c.left_out.program || 0);
  c.now = c.added.filter(p => p.left).map(p => p.left);
  c.searches = c.events.filter(e => (e.kind === "tools_searched" || e.kind === "tools_prefetched") && e.search);
  c.loads = c.events.filter(e => e.kind === "tools_loaded" && !e.repeat && e.tools);
  c.refused = c.events.filter(e => e.kind === "call_gated" || e.kind === "tools_denied");
  c.failed = c.events.filter(e => /_failed$|_restarted$|server_down/.test(e.kind));
  c.marks = [
    c.searches.length && "search", c.loads.length && "plus", c.now.some(l => l.rule === "cut") && "cut",
    c.now.some(l => l.rule !== "cut" && l.rule !== "program") && "clear", c.now.some(isProgram) && "program",
    c.added.some(p => p.category === "page") && "back",
  ].filter(Boolean);
}

let chosen = 0, withLeft = false, single = null;

function header() {
  byID("crumb").textContent = "· " + data.id;
  const verdict = byID("verdict");
  if (!calls.length) { verdict.append(say("No model call was recorded.")); return; }
  verdict.append(...headline());
  const advice = data.advice;
  if (advice) byID("advice").append(say(ADVICE[advice.kind], advice.setting || "", n(advice.tokens || 0), n(advice.of)));
  const meta = [say("{0}, {1}. ", plural(runs.length, "question"), plural(totals.calls, "model call"))];
  if (totals.helped) meta.push(say("{0} of them only searched for a tool or read something back, and would not have been made without. ", n(totals.helped)));
  if (totals.unknown) meta.push(el("b", {}, say("What {0} of {1} read is not known, so more than that would have been sent without. ", n(totals.unknown), plural(totals.programs, "program"))));
  if (totals.too_large) meta.push(el("b", {}, say("{0} of {1} calls without einolean would not have fitted into a window of 200,000 tokens. ", n(totals.too_large), n(totals.calls - totals.helped))));
  meta.push(totals.reported_calls ? say("Tokens are estimates; the provider reported {0} for {1}. ", n(totals.reported), plural(totals.reported_calls, "call")) : say("Tokens are estimates. "), say("What would have been sent without is computed. "));
  if (totals.kept) meta.push(el("strong", {}, say("The provider keeps this conversation on its server, so the model saw more than what was sent. ")));
  if (head.earlier) meta.push(say("The first {0} are in the sums only. ", plural(head.earlier.calls, "call")));
  if (head.dropped) meta.push(say("Of {0} only figures were kept. ", plural(head.dropped, "call")));
  if (data.shortened) meta.push(say("Texts are shortened to {0} bytes each. ", n(data.shortened)));
  byID("meta").append(...meta);
}

// headline compares the tokens sent with those without einolean, and the prices.
function headline() {
  const {sent, without} = totals;
  if (isSame(sent, without)) return [say("This agent sent as many tokens as without einolean: {0}", n(sent)), money()];
  const isDearer = sent > without;
  const text = isDearer ? say("This agent sent {0} with einolean: {1} instead of {2}, or {3} as many", "\0", n(sent), n(without), factor(sent, without)) :
    say("This agent sent {0} with einolean: {1} instead of {2}, or {3} fewer", "\0", n(sent), n(without), factor(without, sent));
  const [before, after] = text.split("\0");
  const difference = isDearer ? say("{0} more tokens", n(sent - without)) : say("{0} fewer tokens", n(without - sent));
  return [before, el("span", {class: isDearer ? "bad" : "good"}, difference), after, money()];
}

function tiles() {
  const tile = (title, value, below, share, bad) => el("div", {class: "card tile"}, el("h2", {}, title), el("strong", {class: bad ? "bad" : null}, value), el("span", {}, below),
    el("div", {class: "meter", "aria-hidden": "true"}, el("i", {class: bad ? "bad" : null, style: `width:${Math.min(100, 100 * share)}%`})));
  const cached = totals.reported_calls ? totals.cached / Math.max(1, totals.reported) : totals.same / Math.max(1, totals.sent);
  const all = [tile(say("Sent"), n(totals.sent), say("of {0} without", n(totals.without)), totals.sent / Math.max(1, totals.without), totals.sent > totals.without)];
  if (totals.calls > 1) all.push(tile(say("Largest window"), n(totals.largest), say("call {0}; {1} without", totals.largest_call, n(totals.largest_without)), totals.largest / Math.max(1, totals.largest_without), totals.largest > totals.largest_without));
  if (totals.reported_calls) all.push(tile(say("Came from the cache"), percent(cached), say("{0} of {1} reported", n(totals.cached), n(totals.reported)), cached));
  else if (totals.same) all.push(tile(say("Unchanged since the call before"), percent(cached), say("what a cache could serve, estimated"), cached));
  if (totals.left) all.push(tile(totals.unreadable ? say("Taken out") : say("Taken out, all readable"), totals.unreadable ? say("{0} not stored", n(totals.unreadable)) : plural(totals.left, "result"),
    say("{0} tokens now take {1}", n(totals.left_before), n(totals.left_after)), totals.left_after / Math.max(1, totals.left_before), totals.unreadable > 0));
  byID("tiles").append(...all);
}

// ---- the timeline

const tokensOf = (c, group) => sum(MEMBERS[group], category => c.by[category] || 0);
const leftOutOf = c => c.hidden.tokens + c.leftOut;

function legend() {
  const used = Object.keys(GROUPS).filter(id => calls.some(c => tokensOf(c, id)));
  const members = id => MEMBERS[id].filter(category => calls.some(c => c.by[category])).map(category => say(CATEGORIES[category])).join(", ");
  byID("legend").append(...used.map(id => el("button", {"aria-pressed": "false", "data-group": id, title: members(id), on: {click() {
    single = single === id ? null : id;
    for (const b of byID("legend").querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.dataset.group === single));
    chart();
  }}}, el("i", {class: "swatch", style: `--c:${color(id)}`}), say(GROUPS[id]))));
  if (calls.some(leftOutOf)) byID("legend").append(el("span", {}, el("i", {class: "swatch hatch"}), say("Left out")));
  byID("marks").append(...Object.keys(MARKS).filter(m => calls.some(c => c.marks.includes(m))).map(m =>
    el("span", {}, svg("svg", {width: 14, height: 14, viewBox: "-7 -7 14 14"}, glyph(m, 0, 0)), say(MARKS[m][0]))));
}

function glyph(mark, x, y) {
  const [, group, path] = MARKS[mark];
  return svg("path", {d: path, fill: "none", stroke: color(group), "stroke-width": 1.7, "stroke-linecap": "round", "stroke-linejoin": "round", transform: `translate(${x} ${y}) scale(1.2)`});
}

// ticks are round numbers from 0 to at most one step above the top.
function ticks(top) {
  const rough = Math.max(1, top) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map(x => x * power).find(x => x >= rough);
  const list = [0];
  while (list[list.length - 1] < top) list.push(list[list.length - 1] + step);
  return list;
}

// wrap breaks a question into at most three lines, and shortens it in the middle until it fits.
function wrap(text, width) {
  for (let most = 3 * width; ; most -= Math.ceil(most / 10)) {
    const lines = broken(middle(text, most), width);
    if (lines.length <= 3 || most <= width) return lines.slice(0, 3);
  }
}

// broken breaks a text into lines; a word that is longer than a line is shortened.
function broken(text, width) {
  const lines = [""];
  for (const long of text.split(/\s+/)) {
    const word = middle(long, width), last = lines[lines.length - 1], next = last ? last + " " + word : word;
    if (next.length <= width || !last) lines[lines.length - 1] = next; else lines.push(word);
  }
  return lines;
}

function happened(c) {
  const said = [];
  if (c.searches.length) said.push(say("A search was answered"));
  if (c.loads.length) said.push(say("{0} loaded", plural(sum(c.loads, e => e.tools.added_count || 0), "tool")));
  const programs = c.now.filter(isProgram).length, taken = c.now.filter(l => l.rule !== "program").length;
  if (taken) said.push(say("{0} taken out", plural(taken, "result")));
  if (programs) said.push(say("{0} ran", plural(programs, "program")));
  if (c.error) said.push(say("It failed"));
  else if (c.unfinished) said.push(say("Its answer was not read to the end"));
  else said.push(c.did.length ? say("The model called {0}", c.did.map(d => d.tool).join(", ")) : say("The model answered"));
  return said.join(say(". "));
}

const W = 1200, LEFT = 76, RIGHT = 6, TOP = 10, BASE = 228, SIGN = 14;

let bars = [], fitted = 0, signRows = 1;

// Signs of a call that do not fit beside one another stand in rows.
const perRow = slot => Math.max(1, Math.floor(slot / SIGN));
const height = () => BASE + 78 + signRows * SIGN;

// wide is how wide the chart is without scrolling: on a phone as the page is, so that its letters can
// be read.
function wide() {
  const box = byID("chart"), style = getComputedStyle(box), inner = box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return fitted = inner > 0 && innerWidth <= 900 ? inner : W;
}

function chart() {
  if (!calls.length) return;
  const room = wide(), width = Math.max(room, LEFT + RIGHT + calls.length * 8.5), slot = (width - LEFT - RIGHT) / calls.length, bar = Math.min(110, slot * .66);
  signRows = Math.max(1, ...calls.map(c => Math.ceil(c.marks.length / perRow(slot))));
  const scale = ticks(Math.max(...calls.map(c => withLeft ? c.sent + leftOutOf(c) : c.sent)));
  const y = v => BASE - (BASE - TOP) * v / scale[scale.length - 1];
  const root = svg("svg", {class: "chart" + (single ? " dim" : ""), viewBox: `0 0 ${width} ${height()}`, role: "listbox", "aria-label": say("Model calls, as stacked bars of tokens"), "aria-orientation": "horizontal"});
  if (width > room) root.style.width = width + "px";
  if (width > 2 * W) { // on paper it is squeezed from the sides only
    root.classList.add("long");
    root.setAttribute("preserveAspectRatio", "none");
  }
  root.append(svg("defs", {}, svg("pattern", {id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
    svg("line", {x1: 0, y1: 0, x2: 0, y2: 5, stroke: "var(--faint)", "stroke-width": 1.3}))));
  for (const v of scale) root.append(svg("line", {class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(v) + .5, y2: y(v) + .5}), svg("text", {x: LEFT - 8, y: y(v) + (v ? 4 : 0), "text-anchor": "end", "aria-hidden": "true"}, short(v)));
  root.append(...questions(slot));
  const had = document.activeElement && document.activeElement.closest && document.activeElement.closest(".bar");
  bars = calls.map((c, i) => column(c, i, slot));
  root.append(...bars, stacks(slot, bar, y));
  root.append(svg("text", {x: LEFT - 8, y: BASE + 12, "text-anchor": "end", "aria-hidden": "true"}, say("from cache")), svg("text", {x: LEFT - 8, y: BASE + 26, "text-anchor": "end", "aria-hidden": "true"}, say("events")));
  byID("chart").replaceChildren(root);
  if (had) bars[chosen].focus({preventScroll: true});
  follow();
}

// stacks draws all bars at once: a path for each group, however many calls there are.
function stacks(slot, bar, y) {
  const paths = Object.fromEntries(Object.keys(GROUPS).map(id => [id, ""])), radius = Math.min(3, bar / 2), rect = (x, top, w, h) => `M${x.toFixed(2)} ${top.toFixed(2)}h${w.toFixed(2)}v${h.toFixed(2)}h${(-w).toFixed(2)}z`;
  let outline = "", left = "", unmade = "", line = "", same = "";
  calls.forEach((c, i) => {
    const x = LEFT + i * slot + (slot - bar) / 2, height = Math.max(1, BASE - y(c.sent)), out = leftOutOf(c);
    outline += `M${x.toFixed(2)} ${BASE}v${-Math.max(0, height - radius)}q0 ${-radius} ${radius} ${-radius}h${bar - 2 * radius}q${radius} 0 ${radius} ${radius}v${Math.max(0, height - radius)}z`;
    let at = 0;
    for (const id in paths) {
      const tokens = tokensOf(c, id);
      if (!tokens) continue;
      const h = y(at) - y(at + tokens);
      paths[id] += rect(x, y(at + tokens), bar, Math.max(.4, h - (h > 3 ? .8 : 0)));
      at += tokens;
    }
    if (withLeft && out) {
      const box = rect(x + .5, y(c.sent + out), Math.max(1, bar - 1), Math.max(0, y(c.sent) - y(c.sent + out) - 1.5));
      if (c.without == null) unmade += box; else left += box;
    }
    line += rect(x, BASE + 7, bar, 4);
    same += rect(x, BASE + 7, bar * Math.min(1, c.prefix.same / Math.max(1, c.sent)), 4);
  });
  const hatched = (d, opacity) => d ? svg("path", {d, fill: "url(#hatch)", stroke: "var(--faint)", opacity}) : null;
  return svg("g", {class: "stacks", "aria-hidden": "true"}, svg("clipPath", {id: "tops"}, svg("path", {d: outline})),
    svg("g", {"clip-path": "url(#tops)"}, Object.keys(paths).filter(id => paths[id]).map(id => svg("path", {class: "piece" + (single === id ? " on" : ""), d: paths[id], fill: color(id)}))),
    hatched(left, 1), hatched(unmade, .45), svg("path", {d: line, fill: "var(--line)"}), svg("path", {d: same, fill: "var(--good)"}));
}

// follow brings the chosen bar into view.
function follow() {
  const box = byID("chart"), at = bars[chosen] && bars[chosen].getBoundingClientRect(), view = box.getBoundingClientRect();
  if (at && (at.left < view.left + 24 || at.right > view.right - 24)) box.scrollLeft += (at.left + at.right - view.left - view.right) / 2;
  edges();
}

// edges says where the chart goes on.
function edges() {
  const box = byID("chart"), more = box.scrollWidth > box.clientWidth + 1;
  byID("more").toggleAttribute("hidden", !more);
  box.classList.toggle("before", more && box.scrollLeft > 1);
  box.classList.toggle("after", more && box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
}

function questions(slot) {
  const drawn = [];
  for (let from = 0, to; from < calls.length; from = to) {
    for (to = from; to < calls.length && calls[to].run === calls[from].run; to++);
    const x = LEFT + from * slot, fits = Math.floor(((to - from) * slot - 14) / 6.4), run = runOf(calls[from]);
    if (from) drawn.push(svg("line", {class: "grid", x1: x + .5, x2: x + .5, y1: TOP, y2: height() - 2}));
    if (!run || !run.question) continue;
    const lines = fits < 7 ? (fits < 2 ? [] : [String(run.n)]) : wrap(run.question, fits);
    drawn.push(svg("text", {x: x + 6, y: BASE + 30 + signRows * SIGN, "aria-hidden": "true"}, svg("title", {}, run.question), lines.map((line, j) => svg("tspan", {x: x + 6, dy: j ? 14 : 0}, line))));
  }
  return drawn;
}

// column is what can be chosen: the place of a bar, with its marks.
function column(c, i, slot) {
  const x = LEFT + i * slot, hit = svg("rect", {class: "hit", x: x + 1, y: TOP - 6, width: Math.max(1, slot - 2), height: BASE - TOP + 22 + signRows * SIGN, rx: Math.min(6, slot / 3)});
  const g = svg("g", {class: "bar", role: "option", tabindex: i === chosen ? 0 : -1, "aria-selected": String(i === chosen), "aria-label": say("Call {0}: {1}. {2}", c.n, plural(c.sent, "token"), happened(c))}, hit);
  // The numbers are for those who point at the bar.
  hit.addEventListener("pointerenter", () => hit.append(svg("title", {}, tip(c))), {once: true});
  const columns = perRow(slot);
  if (slot > 12) c.marks.forEach((m, j) => {
    const row = Math.floor(j / columns), inRow = Math.min(columns, c.marks.length - row * columns);
    g.append(glyph(m, x + slot / 2 + (j % columns - (inRow - 1) / 2) * SIGN, BASE + 22 + row * SIGN));
  });
  return g;
}

function tip(c) {
  const rows = Object.keys(CATEGORIES).filter(id => c.by[id]).map(id => `${say(CATEGORIES[id])}: ${n(c.by[id])}`);
  if (leftOutOf(c)) rows.push(say("left out: {0} of {1}, {2} of results", n(c.hidden.tokens), plural(c.hidden.tools, "hidden tool"), n(c.leftOut)));
  return [say("Call {0}: {1}", c.n, plural(c.sent, "token")), ...rows, say("unchanged since the call before: {0}", percent(c.prefix.same / Math.max(1, c.sent)))].join("\n");
}

// ---- the chosen call

function detail() {
  const c = calls[chosen], parts = c.parts(), d = byID("detail"), run = runOf(c);
  d.replaceChildren(el("div", {class: "row", style: "flex-wrap:nowrap;align-items:flex-start"},
    el("div", {}, el("h2", {}, say("Call {0} of {1}: {2}", c.n, totals.calls, plural(c.sent, "token"))), el("p", {class: "sub"}, run ? say("Question {0}: {1}", run.n, run.question ? middle(run.question, 240) : say("(not kept)")) : "")),
    el("span", {style: "display:flex;gap:6px"}, el("button", {"aria-label": say("Call before"), on: {click() { choose(chosen - 1); }}}, "←"), el("button", {"aria-label": say("Next call"), on: {click() { choose(chosen + 1); }}}, "→"))));
  d.append(strip(parts), prefix(c), el("ol", {class: "parts"}, rows(parts)));
  if (!parts.length) d.append(el("p", {class: "note"}, say("The parts of this call were not kept, to bound the memory.")));
  const did = c.error ? [say("It failed: {0}", c.error)] : c.unfinished ? [say("Its answer was not read to the end.")] :
    c.did.length ? [say("The model called "), c.did.map((use, i) => [i ? ", " : "", el("code", {}, use.tool + " " + clip(use.arguments || "", 300))])] : [say("The model answered: "), clip(c.answer || say("(not kept)"), 300)];
  d.append(el("p", {class: "said"}, did));
}

function strip(parts) {
  const bar = el("div", {class: "strip", "aria-hidden": "true"});
  for (let i = 0, j; i < parts.length; i = j) {
    for (j = i; j < parts.length && parts[j].category === parts[i].category; j++);
    const tokens = sum(parts.slice(i, j), p => p.tokens), id = parts[i].category;
    bar.append(el("i", {style: `--c:${color(groupOf(id))};flex:${tokens} 0 0`, title: `${say(CATEGORIES[id])}: ${n(tokens)}`}));
  }
  return bar;
}

function prefix(c) {
  const share = c.prefix.same / Math.max(1, c.sent);
  return el("div", {class: "prefix"}, el("i", {style: `left:0;width:${100 * share}%;background:var(--good)`}), el("i", {style: `right:0;width:${100 * (1 - share)}%;background:var(--line)`}),
    el("span", {style: "left:0"}, share > .12 ? say("{0} as before", n(c.prefix.same)) : ""), el("span", {style: "right:0"}, share < .88 ? say("{0} new or moved", n(c.sent - c.prefix.same)) : ""));
}

const isTool = p => p.category.endsWith("_tools");

// rows puts tools of one state into one row, and folds five or more short messages
// that did not change.
function rows(parts) {
  const list = [];
  for (let i = 0, j; i < parts.length; i = j) {
    const first = parts[i];
    j = i + 1;
    if (isTool(first)) { while (j < parts.length && parts[j].category === first.category && parts[j].state === first.state) j++; list.push(row(parts.slice(i, j))); continue; }
    let end = i;
    while (end < parts.length && parts[end].state === first.state && !isTool(parts[end]) && parts[end].tokens < 400) end++;
    if (first.state !== "new" && end - i >= 5) { j = end; list.push(folded(parts.slice(i, j))); continue; }
    list.push(row([first]));
  }
  return list;
}

const TAGS = {same: "as before", new: "new", moved: "resent"};

function row(group) {
  const p = group[0], li = el("li", {}), text = p.text ? textOf(p.text) : "";
  let label = clip(text.replace(/\s+/g, " "), 160);
  if (isTool(p)) label = group.map(x => x.label).join(", ");
  else if (p.label) label = p.label + (p.call_id ? (p.category === "assistant" ? " " : " → ") : ": ") + label;
  const button = el("button", {class: "part", "aria-expanded": "false", on: {click() {
    const open = li.querySelector("pre");
    button.setAttribute("aria-expanded", String(!open));
    if (open) open.remove(); else li.append(el("pre", {tabindex: 0}, group.map(x => textOf(x.text)).join("\n\n")));
  }}}, el("i", {class: "swatch", style: `--c:${color(groupOf(p.category))}`}), el("span", {class: "kind"}, say(CATEGORIES[p.category]) + (group.length > 1 ? ` (${group.length})` : "")),
    el("span", {class: "text"}, label), el("span", {class: "n"}, n(sum(group, x => x.tokens))), el("span", {class: "tag " + p.state}, say(TAGS[p.state] || "")));
  li.append(button);
  return li;
}

function folded(group) {
  const li = el("li", {}), groups = [...new Set(group.map(p => groupOf(p.category)))];
  li.append(el("button", {class: "part", "aria-expanded": "false", on: {click() {
    const all = group.map(p => row([p]));
    li.replaceWith(...all);
    all[0].querySelector("button").focus();
  }}}, el("span", {}), el("span", {class: "kind"}, plural(group.length, "message")),
    el("span", {class: "text"}, groups.map(id => el("i", {class: "swatch", style: `--c:${color(id)};display:inline-block;margin-right:4px`})), say(" show them")),
    el("span", {class: "n"}, n(sum(group, p => p.tokens))), el("span", {class: "tag " + group[0].state}, say(TAGS[group[0].state] || ""))));
  return li;
}

// ---- what it cost and saved

function side() {
  const c = calls[chosen];
  byID("side").replaceChildren(...[price(c), ...c.searches.map(search), programs(c), taken(c), loaded(c), refused(c), failed(c)].filter(Boolean));
}

const fact = (name, value) => el("div", {class: "fact"}, el("span", {}, name), el("b", {}, value));

function price(c) {
  const reported = c.tokens.reported, before = calls[chosen - 1];
  const box = el("section", {class: "card"}, el("h3", {}, say("What it cost and saved")), fact(say("Sent, estimated"), n(c.sent)));
  if (c.tokens.calibrated !== c.sent) box.append(fact(say("Corrected by earlier reports"), n(c.tokens.calibrated)));
  if (reported) box.append(fact(say("Reported by the provider"), n(reported.prompt_tokens)), fact(say("of that from its cache"), `${n(reported.prompt_token_details.cached_tokens)} (${percent(reported.prompt_token_details.cached_tokens / Math.max(1, reported.prompt_tokens))})`));
  box.append(fact(say("Hidden tools left out"), `${n(c.hidden.tokens)} (${plural(c.hidden.tools, "tool")})`), fact(say("Results left out"), n(c.leftOut)), fact(say("Without einolean"), c.without == null ? say("not made") : n(c.without)));
  if (c.attempt > 1) box.append(fact(say("Attempt"), n(c.attempt)));
  if (c.kept) box.append(el("p", {class: "note"}, say("The provider keeps this conversation: the model sees more than what was sent.")));
  if (before) box.append(el("p", {class: "note"}, c.prefix.cause && c.prefix.lost >= 8 ?
    [el("b", {}, say(CAUSES[c.prefix.cause] || CAUSES.other)), say(" Of the {0} tokens that the call before sent, {1} can't come from its cache.", n(before.sent), n(c.prefix.lost))] :
    say("Everything that the call before sent is still the prefix: the cache can serve it.")));
  return box;
}

function search(e) {
  const s = e.search, hits = s.hits || [], top = Math.max(1e-9, ...hits.map(h => h.score));
  const box = el("section", {class: "card"}, el("h3", {}, e.kind === "tools_prefetched" ? say("What was looked up first") : say("What was searched"), el("span", {}, `${(s.took_ns / 1e6).toFixed(1)} ms`)), el("p", {}, "“" + s.query + "”"));
  hits.forEach((h, i) => {
    const item = el("div", {}), button = el("button", {class: "hit-row", "aria-expanded": "false", title: say("Why?"), on: {click() {
      const open = item.querySelector("pre");
      button.setAttribute("aria-expanded", String(!open));
      if (open) open.remove(); else item.append(el("pre", {tabindex: 0}, why(h)));
    }}}, el("span", {class: "rank"}, String(i + 1)), el("code", {}, h.name), el("span", {class: "meter", "aria-hidden": "true"}, el("i", {style: `width:${100 * h.score / top}%`})), el("span", {class: "score"}, score(h.score)));
    item.append(button);
    box.append(item);
  });
  box.append(el("p", {class: "note"}, hits.length ? say("Press a tool to see why it has its place.") : say("Nothing was found.")));
  return box;
}

function why(h) {
  const terms = (h.terms || []).map(t => `${score(t.score).padStart(7)}  “${t.text}”${t.relation ? "  " + t.relation : ""}${t.field ? " in " + t.field : ""}`);
  return [h.confidence ? say("confidence {0}", h.confidence.toFixed(2)) : null, ...terms].filter(Boolean).join("\n") || say("Nothing more is known: it is not among the first five, or the index does not explain itself.");
}

const RULES = {cut: "too long when it returned", cleared: "old, and the window was above its threshold", referred: "the same as an earlier result"};

// programs says what the programs read in the model's place.
function programs(c) {
  const all = c.parts().filter(p => p.left && isProgram(p.left)).map(p => p.left);
  if (!all.length) return null;
  const box = el("section", {class: "card"}, el("h3", {}, say("Programs"), el("span", {}, plural(all.length, "program"))));
  for (const l of all) {
    const calls = l.calls || [], count = sum(calls, x => x.calls);
    box.append(el("p", {class: "program"}, l.unknown ? say("What it read is not known: nobody told this collector.") :
      say("It read {0} in {1}, of which the window has {2}.", plural(l.before, "token"), plural(count, "call"), n(l.after))),
    calls.map(x => fact(x.tool, plural(x.calls, "call") + (x.failed ? say(", {0} failed", n(x.failed)) : ""))));
  }
  return box;
}

function taken(c) {
  const left = c.parts().filter(p => p.left && p.left.rule !== "program").map(p => ({...p.left, now: p.state === "new"}));
  if (!left.length) return null;
  const box = el("section", {class: "card"}, el("h3", {}, say("What was taken out"), el("span", {}, `${n(sum(left, l => l.before))} → ${n(sum(left, l => l.after))}`)));
  const one = l => {
    const item = el("div", {class: "taken"}, el("div", {class: "row"}, el("b", {}, l.tool || say("a tool"), l.now ? el("span", {class: "now"}, say("  now")) : null), el("span", {}, `${n(l.before)} → ${n(l.after)}`)),
      el("div", {class: "shrunk", "aria-hidden": "true"}, el("i", {style: `width:${Math.max(1, 100 * l.after / Math.max(1, l.before))}%;background:${color("results")}`})));
    const look = l.text && texts[l.text] != null ? el("button", {"aria-expanded": "false", on: {click() {
      const open = item.querySelector("pre");
      look.setAttribute("aria-expanded", String(!open));
      if (open) open.remove(); else item.append(el("pre", {tabindex: 0, style: "margin:8px 0 0"}, textOf(l.text)));
    }}}, say("Look")) : null;
    item.append(el("div", {class: "row"}, el("span", {class: "why"}, say(RULES[l.rule] || l.rule) + (l.path ? say("; whole in ") : l.stored ? say("; stored whole") : say("; not stored")), l.path ? el("code", {}, l.path) : null), look));
    return item;
  };
  const newest = left.slice(-5).reverse(), others = left.slice(0, -5).reverse();
  box.append(...newest.map(one));
  if (others.length) {
    const more = el("button", {on: {click() { const all = others.map(one); more.replaceWith(...all); (all[0].querySelector("button") || box).focus(); }}}, say("Show {0} older", n(others.length)));
    box.append(more);
  }
  return box;
}

function loaded(c) {
  if (!c.loads.length) return null;
  return el("section", {class: "card"}, el("h3", {}, say("Tools that were loaded"), el("span", {}, "+" + sum(c.loads, e => e.tools.added_count || 0))), el("code", {}, c.loads.flatMap(e => e.tools.added || []).join(", ")));
}

function refused(c) {
  if (!c.refused.length) return null;
  return el("section", {class: "card"}, el("h3", {}, say("What was refused")), c.refused.map(e => fact(e.tool || say("a tool"), e.kind === "call_gated" ? say("it was not loaded") : say("the filter denied it"))));
}

function failed(c) {
  if (!c.failed.length) return null;
  return el("section", {class: "card"}, el("h3", {}, say("What failed")), c.failed.map(e => fact(e.kind.replaceAll("_", " "), e.error || e.tool || "")));
}

// ---- the bill, the table, the events

// cost is what all requests cost with einolean and without, in tokens at the full price. Of
// both, hits is what came, or could have come, from the cache.
function cost(hit, write) {
  const of = (all, hits) => hits * hit + (all - hits) * write;
  return [of(totals.sent, totals.sent_hits), of(totals.without, totals.without_hits)];
}

// compared says how much cheaper or dearer one price is than another.
const compared = (sent, without) => isSame(sent, without) ? say("the same price") : sent < without ? say("{0} cheaper", factor(without, sent)) : say("{0} dearer", factor(sent, without));

// money says how much cheaper or dearer the conversation was, over all price tables.
function money() {
  const all = data.cards.map(c => cost(c.hit, c.write)).sort((a, b) => a[1] / Math.max(1, a[0]) - b[1] / Math.max(1, b[0]));
  const [lowSent, lowWithout] = all[0], [highSent, highWithout] = all[all.length - 1];
  const low = compared(lowSent, lowWithout), high = compared(highSent, highWithout);
  if (low === high) return say(", and {0}.", low);
  if (lowSent < lowWithout && !isSame(lowSent, lowWithout)) return say(", and {0} to {1} cheaper.", factor(lowWithout, lowSent), factor(highWithout, highSent));
  if (highSent > highWithout && !isSame(highSent, highWithout)) return say(", and {0} to {1} dearer.", factor(highSent, highWithout), factor(lowSent, lowWithout));
  return say(", and {0} to {1}, by provider.", low, high);
}

function bill() {
  const tile = (name, hit, write, about) => {
    const [sent, without] = cost(hit, write), isDearer = !isSame(sent, without) && without < sent, [number, ...word] = compared(sent, without).split(/(?<=x) ?/);
    return [el("h3", {}, name), el("strong", {class: isDearer ? "bad" : null}, number, word.length ? el("small", {}, " " + word.join("")) : null), el("span", {}, about), el("span", {}, `${short(without)} → ${short(sent)}`)];
  };
  const share = x => +(100 * x).toFixed(1) + " %";
  const boxes = data.cards.map(c => el("div", {}, tile(say(c.name), c.hit, c.write, c.hit === 1 ? say("full price") : say("hit {0}", share(c.hit)) + (c.write === 1 ? "" : say(", write {0}", share(c.write))))));
  const hit = el("input", {type: "number", min: 0, step: .01, value: .1}), write = el("input", {type: "number", min: 0, step: .01, value: 1}), own = el("div", {class: "own"});
  const work = () => own.replaceChildren(...tile(say("Your prices"), +hit.value, +write.value, "").filter(e => e.textContent));
  for (const input of [hit, write]) input.addEventListener("input", work);
  work();
  byID("bill").append(el("h2", {id: "bill-title"}, say("The bill, with a prompt cache")), el("div", {class: "cards"}, boxes),
    el("details", {class: "prices"}, el("summary", {}, say("Your prices")), el("p", {}, el("label", {}, say("a hit costs "), hit), el("label", {}, say("a write costs "), write), say("of a token without a cache")), own),
    el("p", {class: "note"}, say("Requests only, in tokens at the full price. Without einolean the history only grows, so all of it counts as a hit: the comparison favors doing nothing.")));
}

function table() {
  const used = Object.keys(CATEGORIES).filter(id => calls.some(c => c.by[id]));
  const head = [say("Call"), say("Model did"), say("Sent"), ...used.map(id => say(CATEGORIES[id])), say("Reported"), say("Cached"), say("As before"), say("Hidden tools"), say("Results left out"), say("Without")];
  const cells = c => [c.n, c.error ? say("failed") : c.did.length ? clip(c.did.map(d => d.tool).join(", "), 60) : say("answer"), n(c.sent), ...used.map(id => n(c.by[id] || 0)), c.tokens.reported ? n(c.tokens.reported.prompt_tokens) : "",
    c.tokens.reported ? n(c.tokens.reported.prompt_token_details.cached_tokens) : "", n(c.prefix.same), n(c.hidden.tokens), n(c.leftOut), c.without == null ? "–" : n(c.without)];
  byID("table").append(el("table", {}, el("thead", {}, el("tr", {}, head.map(h => el("th", {scope: "col"}, h)))), el("tbody", {}, calls.map(c => el("tr", {}, cells(c).map(x => el("td", {}, String(x))))))));
}

function events() {
  const about = e => [e.tool, e.search && e.search.query, e.tools && (e.tools.added || e.tools.removed || []).join(", "), e.output && e.output.path, e.program && (e.program.calls || []).map(c => `${c.calls} × ${c.tool}${c.failed ? say(", {0} failed", c.failed) : ""}`).join(", "), e.error].filter(Boolean).join(" · ");
  byID("events").append(el("table", {class: "lefts"}, el("thead", {}, el("tr", {}, [say("Before call"), say("Kind"), say("What")].map(h => el("th", {scope: "col"}, h)))),
    el("tbody", {}, calls.flatMap(c => c.events.map(e => el("tr", {}, el("td", {}, String(c.n)), el("td", {}, e.kind), el("td", {}, clip(about(e), 300))))))));
}

// ---- moving about

function choose(i, focus) {
  if (!calls.length) return;
  chosen = Math.max(0, Math.min(calls.length - 1, i));
  try { history.replaceState(null, "", "#call-" + calls[chosen].n); } catch { /* a page in a frame may not */ }
  mark(); detail(); side(); follow();
  if (focus) bars[chosen].focus({preventScroll: true});
}

// mark shows which bar is chosen, and makes it the stop of the keyboard.
function mark() {
  const before = document.querySelector('.bar[aria-selected="true"]'), now = bars[chosen];
  if (before && before !== now) put(before, {"aria-selected": "false", tabindex: -1}, []);
  put(now, {"aria-selected": "true", tabindex: 0}, []);
}

function scaleTo(left) {
  withLeft = left;
  byID("sent").setAttribute("aria-pressed", String(!left));
  byID("left").setAttribute("aria-pressed", String(left));
  chart();
}

const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const nameTheme = () => { byID("theme").textContent = isDark() ? say("Light") : say("Dark"); };
function flip() { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); }

byID("sent").addEventListener("click", () => scaleTo(false));
byID("left").addEventListener("click", () => scaleTo(true));
byID("theme").addEventListener("click", flip);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT|TEXTAREA|PRE/.test(e.target.tagName)) return;
  const act = {ArrowRight: () => choose(chosen + 1, true), ArrowLeft: () => choose(chosen - 1, true), Home: () => choose(0, true), End: () => choose(calls.length - 1, true), g: () => scaleTo(!withLeft), t: flip}[e.key];
  if (act) { e.preventDefault(); act(); }
});

// The texts of page.html, which stand there in English.
document.documentElement.lang = chinese ? "zh-CN" : "en";
for (const e of document.querySelectorAll("[data-say]")) e.textContent = say(e.textContent);
for (const name of ["aria-label", "title"]) for (const e of document.querySelectorAll(`main [${name}]`)) e.setAttribute(name, say(e.getAttribute(name)));
nameTheme(); header();
if (calls.length) { tiles(); legend(); bill(); }
else for (const e of document.querySelectorAll("main > :not(header)")) e.hidden = true;
// Not on the SVG: a listener of focus would make it a stop of the keyboard.
for (const kind of ["click", "focusin"]) byID("chart").addEventListener(kind, e => { const at = bars.indexOf(e.target.closest(".bar")); if (at >= 0 && (kind === "click" || at !== chosen)) choose(at, kind === "click"); });
byID("chart").addEventListener("scroll", edges, {passive: true});
addEventListener("resize", () => { const was = fitted; if (wide() !== was) chart(); else edges(); });
// What is folded is made when it is opened: a page of 500 calls opens at once.
const once = (id, make) => byID(id).closest("details").addEventListener("toggle", make, {once: true});
if (calls.length) { once("table", table); once("events", events); }
chart();
const asked = /^#call-(\d+)$/.exec(location.hash);
const at = asked ? calls.findIndex(c => c.n === +asked[1]) : -1;
choose(at >= 0 ? at : data.live ? calls.length - 1 : 0);

// A live page loads itself anew when the server says that something is new.
if (data.live && window.EventSource) new EventSource("events").addEventListener("call", () => { location.hash = ""; location.reload(); });
})();
