// The world of a program, made before the program begins. It is a function of the host's settings
// and returns the one function through which the host speaks to it: strings in, strings out.
// What it needs later it takes now, since a program may change every global.
(function (settings, buffer) {
  "use strict";
  const g = globalThis;
  const {parse, stringify, rawJSON} = JSON, {apply, construct} = Reflect;
  const O = Object, P = Promise, S = String, E = Error, TE = TypeError;
  const {freeze, defineProperty, setPrototypeOf} = O;
  const {now, seed, limits, words} = parse(settings);
  const AsyncFunction = (async () => {}).constructor;
  const then = P.prototype.then, slice = S.prototype.slice, charCodeAt = S.prototype.charCodeAt, includes = S.prototype.includes;
  const exec = RegExp.prototype.exec, test = RegExp.prototype.test;
  const B = BigInt, N = Number, {isSafeInteger, isFinite} = N, toExponential = N.prototype.toExponential;
  const wmGet = WeakMap.prototype.get, wmSet = WeakMap.prototype.set;
  // Lists of ours: nothing that a program does to Array.prototype reaches them.
  const list = () => defineProperty([], "toJSON", {__proto__: null, value: undefined});
  const push = (xs, value) => defineProperty(xs, xs.length, {__proto__: null, value, enumerable: true, configurable: true, writable: true});

  // say renders a text of the host: {0}, {1} and {2} are its arguments.
  const say = (key, a = "", b = "", c = "") => {
    let s = "", text = words[key];
    for (let i = 0; i < text.length; i++) {
      if (text[i] === "{" && text[i + 2] === "}") { s += text[i + 1] === "0" ? a : text[i + 1] === "1" ? b : c; i += 2; } else s += text[i];
    }
    return s;
  };

  // Output goes to bytes that the host can read even after it has ended the program:
  // four for the length, one that says whether something was left out, then UTF-8.
  const bytes = new Uint8Array(buffer), head = 5;
  let used = 0;
  const emit = (s) => {
    for (let i = 0; i < s.length; i++) {
      let c = apply(charCodeAt, s, [i]);
      if (c >= 0xd800 && c < 0xe000) {
        const low = c < 0xdc00 && i + 1 < s.length ? apply(charCodeAt, s, [i + 1]) : 0;
        if (low >= 0xdc00 && low < 0xe000) { c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00); i++; } else c = 0xfffd;
      }
      const size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
      if (used + size > limits.output) { bytes[4] = 1; break; }
      let at = head + used;
      if (size === 1) bytes[at] = c;
      else {
        bytes[at++] = (size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0) | (c >> (6 * (size - 1)));
        for (let k = size - 2; k >= 0; k--) bytes[at++] = 0x80 | ((c >> (6 * k)) & 63);
      }
      used += size;
    }
    bytes[0] = used; bytes[1] = used >> 8; bytes[2] = used >> 16; bytes[3] = used >> 24;
  };

  // Time and chance follow from the call: a clock that advances by a millisecond whenever it is
  // asked, and a generator (sfc32) that is seeded.
  const D = Date;
  let clock = now;
  const tick = () => clock++;
  const FakeDate = function (...a) {
    if (!new.target) return new D(tick()).toString();
    return a.length === 0 ? new D(tick()) : new D(...a);
  };
  FakeDate.prototype = D.prototype; FakeDate.now = tick; FakeDate.parse = D.parse; FakeDate.UTC = D.UTC;
  D.prototype.constructor = FakeDate;
  g.Date = FakeDate;
  let [s0, s1, s2, s3] = seed;
  const random = () => {
    const t = (s0 + s1 + s3) | 0;
    s3 = (s3 + 1) | 0; s0 = s1 ^ (s1 >>> 9); s1 = (s2 + (s2 << 3)) | 0; s2 = ((s2 << 21) | (s2 >>> 11)) + t | 0;
    return (t >>> 0) / 4294967296;
  };
  for (let i = 0; i < 12; i++) random();
  Math.random = random;
  for (const n of ["performance", "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Atomics", "navigator", "gc", "queueMicrotask"]) delete g[n];

  // lineOf is the line of the program that an error comes from, 0 if there is none.
  const frame = /<(?:program|input)>:(\d+)/;
  let offset = 0;
  const lineOf = (e) => {
    try { const m = apply(exec, frame, [S(e.stack)]); return m ? m[1] - offset : 0; } catch { return 0; }
  };
  const at = (n) => n > 0 ? say("line", S(n)) : "";

  // An error in a value is its text, where JSON has nothing of it; that of several errors tells each.
  const errorText = E.prototype.toString, hidden = (of, name, value) => defineProperty(of, name, {__proto__: null, value, configurable: true, writable: true});
  hidden(E.prototype, "toJSON", function () { return S(this); });
  hidden(AggregateError.prototype, "toString", function () { return apply(errorText, this, []) + ": " + [...this.errors].join("; "); });

  // Calls: open are those that the program waits for, queue those that the host has not taken.
  const open = {__proto__: null}, queue = list(), pendingName = new WeakMap(), notes = list(), early = {__proto__: null};
  let count = 0, over = false;
  const note = (s) => { if (notes.length < limits.notes) push(notes, s); };

  const briefly = (s) => s.length <= limits.sent ? s : apply(slice, s, [0, limits.sent]) + "...";

  // named is an error of ours that says what to write instead.
  const named = (text) => defineProperty(new TE(text), "einoleanNamed", {__proto__: null, value: true});

  // Numbers: an integer that a Number cannot hold is a BigInt, and is written digit by digit.
  // One beyond all doubles is Infinity, and noted.
  const integer = /^-?\d+$/, long = /\d{16}|[eE]\+?\d{3}/;
  let overflowed = false;
  const whole = (v, c) => {
    if (typeof v !== "number" || isSafeInteger(v)) return v;
    if (!isFinite(v)) {
      if (!overflowed) note(say("infinite", briefly(c.source ?? S(v))));
      overflowed = true;
      return v;
    }
    if (c.source === undefined) throw named(say("twice")); // of two members with one name
    return apply(test, integer, [c.source]) ? B(c.source) : v;
  };
  const parseExact = (text) => parse(text, (_, v, c) => whole(v, c));
  JSON.parse = (text, f) => {
    if (text !== null && typeof text === "object") return text; // a result is a value already
    if (!apply(test, long, [text])) return parse(text, f);
    return typeof f === "function" ? parse(text, function (k, v, c) { return apply(f, this, [k, whole(v, c), c]); }) : parseExact(text);
  };
  const digits = function () { return rawJSON(S(this)); };
  defineProperty(B.prototype, "toJSON", {__proto__: null, get: () => digits, set() {}, configurable: false});
  // What would round such an integer says so.
  const read = /^\s*[-+]?\d+\s*$/;
  const rounds = (x) => typeof x === "bigint" ? !isSafeInteger(N(x)) : typeof x === "string" && x.length > 15 && apply(test, read, [x]) && !isSafeInteger(N(x));
  const whenWhole = (name, f) => new Proxy(f, {
    apply(f, self, xs) { if (rounds(xs[0])) throw named(say("rounds", name, S(xs[0]))); return apply(f, self, xs); },
    construct(f, xs, as) { if (rounds(xs[0])) throw named(say("rounds", name, S(xs[0]))); return construct(f, xs, as); },
  });
  for (const n of ["parseInt", "parseFloat"]) hidden(g, n, N[n] = whenWhole(n, g[n]));
  N.prototype.constructor = whenWhole("Number", N);
  hidden(g, "Number", N.prototype.constructor);
  // A difference of BigInts orders a list as one of Numbers does.
  for (const n of ["sort", "toSorted"]) {
    const sort = Array.prototype[n];
    hidden(Array.prototype, n, function (f) {
      return apply(sort, this, [typeof f !== "function" ? f : (a, b) => { const d = f(a, b); return typeof d === "bigint" ? (d > 0n) - (d < 0n) : d; }]);
    });
  }

  // show is a value as print writes it. What is undefined or no number makes the program doubtful.
  let doubtful = false;
  const plain = (k, x) => {
    if (x === undefined || x !== x) doubtful = true;
    if (typeof x === "number" && x === x && !isFinite(x)) return S(x); // JSON would write null
    if (x === null || typeof x !== "object") return x;
    const name = apply(wmGet, pendingName, [x]);
    if (name) return say("promise", name);
    return x instanceof P ? say("anyPromise") : x instanceof Map || x instanceof Set ? [...x] : x;
  };
  // argument is a value as a call sends it: a promise in it is a forgotten await, and a Number that
  // may have been rounded has an exponent, which tells it from an integer. Infinity is one that no
  // double holds.
  const argument = (k, x) => {
    if (typeof x === "number" && (x >= 2 ** 53 || x <= -(2 ** 53))) return rawJSON(isFinite(x) ? apply(toExponential, x, []) : x > 0 ? "1e+999" : "-1e+999");
    const name = x !== null && typeof x === "object" ? apply(wmGet, pendingName, [x]) : undefined;
    if (name) throw named(say("await", name));
    return plain(k, x);
  };
  // A list of nothing but undefined is joined to a text that shows none of it.
  const join = Array.prototype.join, hasOwn = O.prototype.hasOwnProperty;
  hidden(Array.prototype, "join", function (separator) {
    let i = 0;
    while (i < this.length && this[i] === undefined && apply(hasOwn, this, [i])) i++;
    if (i > 0 && i === this.length) doubtful = true;
    return apply(join, this, [separator]);
  });
  const show = (v) => {
    if (typeof v === "string") {
      if (apply(includes, v, ["undefined"]) || apply(includes, v, ["NaN"])) doubtful = true;
      return v;
    }
    if (v === undefined || v !== v) doubtful = true;
    if (typeof v === "function") return apply(wmGet, toolName, [v]) ? say("uncalled", apply(wmGet, toolName, [v])) : "[function]";
    if (v === null || typeof v !== "object") return S(v);
    try {
      if (v instanceof E) return S(v);
      const s = stringify(v, plain);
      return s === undefined ? S(v) : s;
    } catch (e) { return say("unshown"); }
  };
  const print = (...vs) => {
    for (let i = 0; i < vs.length && used < limits.output; i++) emit((i ? " " : "") + show(vs[i]));
    emit("\n");
  };

  // promised is what a call returns. Whatever a program does with it but wait for it is the
  // mistake that models make most: await is missing.
  const promised = (p, name, state) => {
    const missing = (k) => { throw named(say("await", name, typeof k === "symbol" ? "" : "." + S(k))); };
    const x = new Proxy(O.create(null), {
      get(_, k) {
        switch (k) {
        case "then": return (f, r) => { state.awaited = true; return apply(then, p, [f, r]); };
        case "catch": return (r) => { state.awaited = true; return apply(then, p, [undefined, r]); };
        case "finally": return (f) => { state.awaited = true; return apply(then, p, [async (v) => { await f(); return v; }, async (e) => { await f(); throw e; }]); };
        case "toJSON": case "constructor": case Symbol.toStringTag: return undefined;
        }
        missing(k);
      },
      has: (_, k) => k === "then", set: (_, k) => missing(k), getPrototypeOf: () => null,
      ownKeys: () => missing(""), defineProperty: (_, k) => missing(k), deleteProperty: (_, k) => missing(k),
    });
    apply(wmSet, pendingName, [x, name]);
    return x;
  };
  // Every other promise is told as well: what is read of it, and is not its own, is that of its value.
  const missingBefore = (k) => { throw named(say("missing", typeof k === "symbol" ? "" : "." + S(k))); };
  setPrototypeOf(P.prototype, new Proxy(O.prototype, {
    get(of, k, p) {
      if (!(p instanceof P)) return of[k];
      if (k === "toJSON") return undefined;
      if (k === Symbol.iterator || k === Symbol.asyncIterator || k === Symbol.toPrimitive) missingBefore(k);
      return typeof k === "symbol" || k in of ? of[k] : missingBefore(k);
    },
  }));
  // Several promises that are no list are one.
  for (const n of ["all", "allSettled", "race", "any"]) {
    const together = P[n];
    defineProperty(P, n, {__proto__: null, configurable: true, writable: true, value(xs, ...more) {
      const one = more.length > 0 || xs instanceof P || xs !== null && typeof xs === "object" && apply(wmGet, pendingName, [xs]);
      return apply(together, P, [one ? [xs, ...more] : xs]);
    }});
  }
  const refuse = (name, text) => promised(P.reject(named(text)), "tools." + name, {awaited: false});
  const ask = (name, entry) => {
    if (count >= limits.calls) { over = true; return refuse(name, say("calls", S(limits.calls))); }
    let resolve, reject;
    const p = new P((f, r) => { resolve = f; reject = r; }), label = entry.path === undefined ? "tools." + name : name;
    const state = {awaited: false}, line = lineOf(new E(""));
    open[++count] = {resolve, reject, state, name, label, line, sent: entry.arguments ?? stringify(entry.path)};
    entry.number = count; entry.line = line;
    push(queue, entry);
    return promised(p, label, state);
  };
  const callers = {__proto__: null, call: 1, call_tool: 1, callTool: 1, invoke: 1, execute: 1, run: 1, use: 1};
  const object = (x) => x !== null && typeof x === "object" && !(x instanceof Array);
  const call = (name, args, ...more) => {
    if (callers[name] && typeof args === "string" && more.length > 0) return call(args, ...more);
    if (typeof args === "string" && more.length === 0) {
      try { const read = parse(args); if (object(read)) args = read; } catch {}
    }
    // What is no object leaves as a list: it is answered with the tool's signature.
    let json = args === undefined ? "{}" : stringify(more.length === 0 && object(args) ? args : [args, ...more], argument);
    if (json === undefined) json = "{}";
    if (json.length > limits.arguments) return refuse(name, say("arguments", name, S(json.length), S(limits.arguments)));
    return ask(name, {__proto__: null, tool: name, arguments: json});
  };

  // tools.NAME is a function. tools.SERVER.NAME is tools.SERVER__NAME.
  const known = {__proto__: null};
  const own = {__proto__: null, name: 1, length: 1, prototype: 1, call: 1, apply: 1, bind: 1, toString: 1, constructor: 1, caller: 1, arguments: 1, toJSON: 1, then: 1, valueOf: 1};
  const fixed = () => { throw named(say("fixed")); };
  const toolName = new WeakMap();
  const tool = (name) => {
    if (known[name]) return known[name];
    const f = known[name] = new Proxy((...args) => call(name, ...args), {
      get: (f, k) => typeof k === "symbol" || own[k] ? f[k] : tool(name + "__" + k), set: fixed, defineProperty: fixed,
    });
    apply(wmSet, toolName, [f, name]);
    return f;
  };
  const tools = new Proxy(freeze(O.create(null)), {
    get: (_, k) => typeof k === "symbol" || k === "then" || k === "toJSON" ? undefined : tool(k),
    has: () => true, set: fixed, defineProperty: fixed,
    ownKeys: () => { note(say("names")); return list(); },
  });
  const stored = (path) => typeof path === "string" ? ask("stored", {__proto__: null, path}) : refuse("stored", say("path"));

  const define = (name, value) => defineProperty(g, name, {__proto__: null, value, writable: false, configurable: false});
  const console = {__proto__: null};
  for (const n of ["log", "info", "warn", "error", "debug", "table", "dir", "trace"]) console[n] = print;
  for (const n of ["time", "timeEnd", "group", "groupEnd", "assert", "count"]) console[n] = () => {};
  define("tools", tools); define("print", print); define("stored", stored); define("console", freeze(console));
  const also = (n, value) => hidden(g, n, value);
  for (const n of ["call_tool", "callTool"]) also(n, (name, ...args) => typeof name === "string" ? call(name, ...args) : call("call_tool", name));
  for (const n of ["tool_search", "run_code"]) also(n, (...args) => call(n, ...args));
  const absent = (name, key) => also(name, () => { throw new E(say(key, name)); });
  for (const n of ["setTimeout", "setInterval", "setImmediate", "sleep"]) absent(n, "timers");
  for (const n of ["require", "importScripts"]) absent(n, "modules");
  for (const n of ["fetch", "XMLHttpRequest"]) absent(n, "network");
  for (const n of ["fs", "Deno", "Bun"]) defineProperty(g, n, {__proto__: null, get() { throw new E(say("host", n)); }, configurable: true});
  const write = (s) => { emit(show(s)); return true; };
  g.process = new Proxy({__proto__: null, exit() { succeed(); throw new E("exit"); }, stdout: {write}, stderr: {write}, on() {}}, {
    get(x, k) { if (k in x) return x[k]; throw new E(say("host", "process." + S(k))); },
  });

  // value is what a result is in the program: the value of which it is the JSON, or text.
  const value = (s, exactly) => {
    try { return exactly ? parseExact(s) : parse(s); } catch { return s; }
  };

  // The end: value or error, told once.
  let ended = false, ok = true, returned = "", error = "", errorLine = 0;
  const succeed = (v) => {
    if (ended) return;
    ended = true;
    let under = 0;
    for (const _ in open) under++;
    if (under > 0 && (used > 0 || v !== undefined)) note(say("late", S(under)));
    if (v !== undefined && !(typeof v === "function")) returned = apply(slice, show(v), [0, limits.output]);
  };
  const fail = (e) => {
    if (ended) return;
    ended = true; ok = false;
    error = say("unshown"); // of what is empty, or throws when it is read
    const failed = early[e && e.einoleanCall];
    doubtful = e instanceof TE && !e.einoleanNamed;
    try { error = apply(slice, e !== null && typeof e === "object" && !(e instanceof E) ? show(e) : failed ? e.message : S(e), [0, limits.error]) || error; } catch {}
    if (failed) error = say("failed", failed.label, brieflySent(failed.sent)) + error;
    errorLine = failed ? failed.line : lineOf(e);
  };
  const brieflySent = (s) => {
    if (s === undefined || s === "{}") return "";
    if (s[0] === "[") s = apply(slice, s, [1, -1]);
    return briefly(s);
  };
  // brief is a value that nobody asked to see: its shape if it is long.
  const brief = (v) => {
    if (v === undefined || v === null || typeof v === "function") return undefined;
    const s = show(v);
    return s.length <= limits.value ? v : say("long", shape(v, 0));
  };
  const shape = (v, depth) => {
    if (v === null || typeof v !== "object") return v === null ? "null" : typeof v;
    if (v instanceof Array) return (v.length > 0 && depth < limits.depth ? shape(v[0], depth + 1) : "any") + "[] (" + v.length + ")";
    let s = "", n = 0;
    for (const k in v) {
      if (++n > limits.keys) { s += ", ..."; break; }
      s += (s ? ", " : "") + k + ": " + (depth < limits.depth ? shape(v[k], depth + 1) : "any");
    }
    return "{" + s + "}";
  };
  const begin = (f) => { try { apply(then, f(), [succeed, fail]); } catch (e) { fail(e); } };

  // settle ends one call.
  const settle = (number, text, failed, exactly) => {
    const c = open[number];
    if (!c) return;
    delete open[number];
    if (!failed) {
      const v = value(text, exactly);
      if (!shapes[c.name] || shapes[c.name] === "any[] (0)") shapes[c.name] = typeof v === "string" ? say("text") : shape(v, 0);
      return c.resolve(v);
    }
    const e = new E(text);
    defineProperty(e, "einoleanCall", {__proto__: null, value: number});
    early[number] = c;
    c.failure = text;
    if (!c.state.awaited) push(lost, c);
    c.reject(e);
  };
  const lost = list(), shapes = {__proto__: null};
  const returns = () => {
    let s = "";
    for (const name in shapes) if (s.length < limits.shapes) s += (s ? "; " : "") + name + ": " + shapes[name];
    return s;
  };

  // state is what the host reads between two entries.
  const state = () => {
    let waits = 0;
    for (const _ in open) waits++;
    if (ended && waits === 0) {
      for (let i = 0; i < lost.length; i++) if (!lost[i].state.awaited) note(say("lost", lost[i].label, at(lost[i].line) + ": " + apply(slice, lost[i].failure, [0, limits.failure])));
      if (doubtful && count > 0 && returns()) note(say("shapes", returns()));
    }
    const calls = list();
    for (let i = 0; i < queue.length; i++) push(calls, queue[i]);
    queue.length = 0;
    return stringify({__proto__: null, calls, waits, ended, ok, returned, error, line: errorLine, notes, over, doubtful, shapes: doubtful ? returns() : ""});
  };

  return (op, a, b) => {
    switch (op) {
    case "function": // the body of a function: it may return
      offset = 2; // the lines that AsyncFunction puts before the text
      begin(new AsyncFunction(a));
      return "";
    case "completion": // the promise of {value}, the value of the last expression
      begin(() => apply(then, a, [async (r) => { const v = await r.value; return used > 0 ? undefined : brief(v); }]));
      return "";
    case "settle": settle(a, b, false, false); return "";
    case "settle exactly": settle(a, b, false, true); return "";
    case "reject": settle(a, b, true); return "";
    case "reads": try { new AsyncFunction(a); return "yes"; } catch { return ""; }
    case "state": return state();
    }
    return "";
  };
})
