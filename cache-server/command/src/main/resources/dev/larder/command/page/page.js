// Shows /status.json, which it asks for every second, but not while nobody looks. Names and paths are written as text, never as HTML.

const POLL_MS = 1000;
const PATIENCE_MS = 5000;
const HISTORY = 600;
const ROWS = 100;
const FEW_ERRORS = 3;
const FEW_HOLDERS = 12;
const SPACE = [
  ["leased", "leasedBytes", "leased", "in use now; cannot leave"],
  ["pinned", "pinnedBytes", "pinned", "pinned, not in use"],
  ["unsourced", "unsourcedBytes", "no source", "computed; leaves only by evict or its time to live"],
  ["evictable", "evictableBytes", "evictable", "leaves when room is needed, and comes back from its source"],
  ["retired", "retiredBytes", "retired", "replaced; goes with its last reader"],
  ["shared", "sharedBytes", "rings and regions", "batches of feeds, memory that processes share"],
  ["free", "freeBytes", "free", "not used"],
];

const byId = (id) => document.getElementById(id);
const view = { match: "", from: 0, sort: "name", order: "asc", open: new Map(), whole: new Set(), etag: "", last: null };
const past = { time: [], used: [], leased: [], hits: [], misses: [] };
let charts = [];
let timer = 0;

// Makes an element: attributes that are functions are listeners, children that are no elements become text.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

// Writes a text where it differs: what is selected stays selected.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Brings the rows of a table in line with a list; rows keep their elements, and with them the focus.
function sync(body, list, key, cells, decorate) {
  const before = new Map([...body.children].map((row) => [row.dataset.key, row]));
  let place = body.firstElementChild;
  for (const item of list) {
    const name = key(item);
    let row = before.get(name);
    before.delete(name);
    if (!row) {
      row = make("tr", { "data-key": name });
    }
    const shown = JSON.stringify(item);
    if (row.dataset.shown !== shown) {
      const focused = row.contains(document.activeElement);
      row.replaceChildren(...cells(item, row));
      row.dataset.shown = shown;
      if (focused) row.querySelector("button")?.focus();
    }
    if (decorate) decorate(item, row);
    if (row !== place) body.insertBefore(row, place);
    else place = place.nextElementSibling;
  }
  before.forEach((row) => row.remove());
}

const td = (text, kind, title) => make("td", { class: kind, title }, text);

function size(bytes) {
  if (bytes < 1024) return bytes + " B";
  let value = bytes, step = -1;
  while (value >= 1023.95 && step < 5) { value /= 1024; step++; }
  return value.toFixed(1) + " " + "KMGTPE"[step] + "iB";
}

function duration(seconds) {
  if (seconds < 60) return Math.floor(seconds) + " s";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min " + Math.floor(seconds % 60) + " s";
  if (seconds < 86400) return Math.floor(seconds / 3600) + " h " + Math.floor(seconds % 3600 / 60) + " min";
  return Math.floor(seconds / 86400) + " d " + Math.floor(seconds % 86400 / 3600) + " h";
}

const since = (instant) => Math.max(0, (Date.now() - Date.parse(instant)) / 1000);
const ago = (instant) => {
  const seconds = since(instant);
  return seconds < 5 ? "now" : duration(seconds < 3600 && seconds >= 60 ? Math.floor(seconds / 60) * 60 : seconds).replace(" 0 s", "") + " ago";
};
const digits = (n) => typeof n === "number" ? String(Number(n.toPrecision(6))) : n;
const count = (n) => n.toLocaleString("en");

function showFacts(now) {
  const list = byId("facts");
  const pairs = [
    ["store", now.store], ["pid", String(now.pid)], ["version", now.version], ["up", duration(since(now.started))],
    ["datasets", count(now.datasets.total)], ["arrays", count(now.arrays)], ["clients", count(now.clients)],
  ];
  if (list.children.length !== pairs.length) {
    list.replaceChildren(...pairs.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  }
  pairs.forEach(([, value], i) => say(list.children[i].lastElementChild, value));
  document.title = "Larder " + size(now.usedBytes) + " of " + size(now.capacityBytes);
}

function showSpace(now) {
  const bar = byId("bar"), legend = byId("legend");
  if (!bar.children.length) {
    bar.append(...SPACE.map(([kind, , name, why]) => make("div", { class: kind, title: name + ": " + why })));
    legend.append(...SPACE.map(([kind, , name, why]) =>
      make("li", { class: kind, title: why }, make("span", { class: "name" }, name), make("span", {}, ""))));
  }
  const whole = Math.max(1, SPACE.reduce((sum, [, key]) => sum + now.space[key], 0));
  SPACE.forEach(([, key], i) => {
    const part = now.space[key] / whole;
    bar.children[i].style.width = part * 100 + "%";
    bar.children[i].hidden = part === 0;
    legend.children[i].hidden = part === 0 && !["leasedBytes", "freeBytes"].includes(key);
    say(legend.children[i].lastElementChild, size(now.space[key]));
  });
  bar.setAttribute("aria-label", SPACE.map(([, key, name]) => name + " " + size(now.space[key])).join(", "));
  const huge = now.usedBytes ? Math.round(100 * now.hugeBytes / now.usedBytes) : 0;
  say(byId("capacity"), size(now.usedBytes) + " of " + size(now.capacityBytes) + " used; " + size(now.hugeBytes)
    + " (" + huge + " %) on huge pages, mount huge=" + now.hugePages);
}

// Fills the charts with what the daemon has recorded before this page was opened. The last sample counts as now: clocks may differ.
async function recall() {
  try {
    const answer = await fetch("/history.json", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    const known = answer.ok ? await answer.json() : { epochMs: [] };
    const ahead = Date.now() - known.epochMs.at(-1);
    known.epochMs.forEach((ms, i) => {
      const seconds = i > 0 ? (ms - known.epochMs[i - 1]) / 1000 : 0;
      const rate = (key) => seconds > 0 ? Math.max(0, (known[key][i] - known[key][i - 1]) / seconds) : 0;
      past.time.push((ms + ahead) / 1000);
      past.used.push(known.usedBytes[i]);
      past.leased.push(known.leasedBytes[i]);
      past.hits.push(rate("askHits"));
      past.misses.push(rate("askMisses"));
    });
  } catch (e) {
    console.warn("the charts begin empty:", e);
  }
}

function remember(now) {
  const time = Date.now() / 1000, before = view.last, at = past.time.length - 1;
  if (!before && at >= 0) return; // rates need two answers
  const seconds = at >= 0 ? time - past.time[at] : 0;
  const rate = (key) => before && before.pid === now.pid && before.started === now.started && seconds > 0
    ? Math.max(0, (now.counters[key] - before.counters[key]) / seconds) : 0;
  past.time.push(time);
  past.used.push(now.usedBytes);
  past.leased.push(now.leasedBytes);
  past.hits.push(rate("askHits"));
  past.misses.push(rate("askMisses"));
  if (past.time.length > HISTORY) Object.values(past).forEach((values) => values.shift());
}

function chart(place, series, keys, format, incrs) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue("--" + name).trim();
  const axis = { stroke: colour("quiet"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
  const element = byId(place);
  element.replaceChildren();
  const plot = new uPlot({
    width: Math.max(200, element.clientWidth), height: 160, legend: { show: false }, cursor: { show: false },
    scales: { x: { range: (self, low, high) => [Math.min(low ?? high, high - 60), high] }, y: { range: (self, low, high) => [0, Math.max(high * 1.1, 1)] } },
    axes: [
      { ...axis, space: 90, size: 28, values: (self, ticks) => ticks.map((t) => new Date(t * 1000).toTimeString().slice(0, 8)) },
      { ...axis, size: 74, space: 30, incrs, values: (self, ticks) => ticks.map(format) },
    ],
    series: [{}, ...series.map(([name, kind, dash]) => ({ label: name, stroke: colour(kind), width: 2, dash, points: { show: false } }))],
  }, [past.time, ...keys.map((key) => past[key])], element);
  return { plot, keys, element };
}

function drawCharts() {
  charts.forEach(({ plot }) => plot.destroy());
  charts = [
    chart("used", [["used", "evictable"], ["leased", "leased", [6, 4]]], ["used", "leased"], size, Array.from({ length: 50 }, (_, i) => 2 ** i)),
    chart("asks", [["hits", "leased"], ["misses", "retired", [6, 4]]], ["hits", "misses"], (n) => n.toFixed(n < 10 ? 1 : 0) + "/s", [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000]),
  ];
}

// Writes the names of lines in their colours.
function lines(element, parts) {
  if (element.children.length !== parts.length) element.replaceChildren(...parts.map(([kind]) => make("span", { class: "line " + kind })));
  parts.forEach(([, text], i) => say(element.children[i], text));
}

function fitCharts() {
  charts.forEach(({ plot, element }) => plot.setSize({ width: Math.max(200, element.clientWidth), height: 160 }));
}

function showCharts(now) {
  const isCalm = now.waits.every((wait) => wait.count === 0);
  if (byId("waits").hidden !== isCalm) { // then the waits need a third of the width, or one line
    byId("waits").hidden = isCalm;
    byId("charts").classList.toggle("calm", isCalm);
    fitCharts();
  }
  if (!charts.length) drawCharts();
  charts.forEach(({ plot, keys }) => plot.setData([past.time, ...keys.map((key) => past[key])]));
  const at = past.time.length - 1;
  lines(byId("used-now"), [["evictable", "— used " + size(now.usedBytes)], ["leased", "╌ leased " + size(now.leasedBytes)]]);
  lines(byId("asks-now"), [["leased", "— hits " + past.hits[at].toFixed(1) + "/s"], ["retired", "╌ misses " + past.misses[at].toFixed(1) + "/s"]]);
  const c = now.counters;
  say(byId("waits-now"), c.waiting + " now; hits " + count(c.askHits) + ", misses " + count(c.askMisses) + ", late " + count(c.asksLate));
  const most = Math.max(1, ...now.waits.map((wait) => wait.count));
  const limit = (s) => s === null ? "longer" : s < 1 ? "≤ " + s * 1000 + " ms" : s < 60 ? "≤ " + s + " s" : "≤ " + s / 60 + " min";
  bars(byId("waits"), now.waits.map((wait) => [limit(wait.toSeconds), wait.count, wait.count / most]));
}

function bars(table, rows) {
  sync(table.tBodies[0], rows, ([name]) => name, ([name, n, part]) => {
    const bar = make("div", {});
    bar.style.width = part * 100 + "%";
    bar.hidden = n === 0;
    return [td(name, "n"), td(count(n), "n"), make("td", { class: "track" }, bar)];
  });
}

function table(id, list, total) {
  const section = byId(id);
  say(section.querySelector(".count"), total === 0 ? "" : count(total));
  const none = section.querySelector(".none");
  if (none) none.hidden = list.length > 0;
  section.querySelector("table").hidden = list.length === 0;
  if (!none) section.hidden = list.length === 0;
  return section.querySelector("tbody");
}

// Returns the first rows of a list, or all of them if the button of its section was pressed.
function few(id, list, most) {
  const more = byId(id).querySelector(".more"), isWhole = view.whole.has(id);
  more.hidden = list.length <= most;
  say(more, isWhole ? "Show " + most : "Show all " + count(list.length));
  return isWhole ? list : list.slice(0, most);
}

function showLoads(now) {
  sync(table("loads", now.loads, now.loads.length), now.loads, (load) => load.datasets.join(), (load) => {
    const known = load.bytesTotal !== null && load.bytesTotal > 0;
    const bar = known ? make("progress", { max: load.bytesTotal, value: load.bytesDone, "aria-label": "done" }) : make("span", {}, "");
    return [
      td(load.datasets.join(", "), "name"), td(load.phase, "less"), make("td", {}, bar),
      td(known ? size(load.bytesDone) + " of " + size(load.bytesTotal) : size(load.bytesDone), "n"),
      td(load.bytesPerSecond ? size(load.bytesPerSecond) + "/s" : "", "n less"),
      td(load.secondsLeft === null ? "" : duration(Math.ceil(load.secondsLeft)), "n"),
    ];
  });
}

const datasetKey = (row) => row.name + "@" + row.version + (row.state === "retired" ? "!" : "");

function showDatasets(now) {
  const { rows, total, matching, from } = now.datasets;
  const body = table("datasets", rows, total);
  byId("datasets").querySelector(".none").hidden = total > 0;
  sync(body, rows.flatMap((row) => (view.open.has(datasetKey(row)) ? [row, { of: row.name, key: datasetKey(row) }] : [row])),
    (row) => (row.of ? "arrays of " + row.key : datasetKey(row)),
    (row, element) => (row.of ? arraysOf(row, element) : datasetCells(row)),
    (row, element) => {
      element.classList.toggle("open", view.open.has(datasetKey(row)));
      const used = element.querySelector("[data-used]");
      if (used) say(used, used.dataset.used === "held" ? "now" : used.dataset.used ? ago(used.dataset.used) : "");
    });
  say(byId("range"), matching === 0 ? "none" : count(from + 1) + "–" + count(from + rows.length) + " of " + count(matching));
  byId("previous").disabled = from === 0;
  byId("next").disabled = from + rows.length >= matching;
  byId("pager").hidden = matching <= ROWS && from === 0 && !view.match;
}

function datasetCells(row) {
  const isThere = ["resident", "mapped"].includes(row.state);
  const name = isThere
    ? make("button", { type: "button", "aria-expanded": String(view.open.has(datasetKey(row))), click: () => toggle(row) }, row.name)
    : row.name;
  const state = make("td", { class: "nowrap" }, row.state);
  if (row.pinned) state.append(" ", make("span", { class: "tag pin" }, "pinned"));
  if (row.leased && !row.holders.length) state.append(" ", make("span", { class: "tag", title: "by a process of another pid namespace" }, "leased"));
  return [
    make("td", { class: "name" }, name), td(row.version || "", "n least"), state, td(size(row.bytes), "n", size(row.storedBytes) + " occupied"),
    td(row.arrays ? count(row.arrays) : "", "n less"), td(row.holders.length || "", "n", row.holders.join(", ")),
    make("td", { class: "n less", "data-used": row.leased ? "held" : row.lastUse || "" }), td(row.digest.slice(0, 12), "mono least", row.digest),
    td(row.sources.join(" "), "text less"),
  ];
}

function toggle(row) {
  const key = datasetKey(row);
  if (view.open.has(key)) view.open.delete(key);
  else view.open.set(key, 0);
  byId("datasets").querySelectorAll("tr[data-shown]").forEach((element) => { element.dataset.shown = element.dataset.key === key ? "" : element.dataset.shown; });
  showDatasets(view.last);
}

// Shows the arrays of a dataset, some at a time: there may be a hundred thousand.
function arraysOf(row, element) {
  element.className = "arrays";
  const body = make("tbody", {});
  const more = make("button", { type: "button", class: "more", hidden: "", click: () => load() }, "");
  const cell = make("td", { colspan: 9 }, make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "Array"), make("th", {}, "Dtype"),
    make("th", {}, "Shape"), make("th", { class: "n" }, "Bytes"), make("th", { class: "less" }, "Crc32c"), make("th", { class: "wide less" }, "Source"))), body), more);
  async function load() {
    const answer = await fetch("/arrays.json?" + new URLSearchParams({ dataset: row.of, from: body.children.length, count: ROWS }));
    if (!answer.ok) return;
    const arrays = await answer.json();
    body.append(...arrays.rows.map((array) => make("tr", {},
      make("td", { class: "name" }, make("button", { type: "button", click: () => look(array.name) }, array.name.slice(row.of.length + 1) || array.name)),
      td(typeof array.dtype === "string" ? array.dtype : "struct", "mono"), td("(" + array.shape.join(", ") + ")", "mono"), td(size(array.bytes), "n"),
      td(array.crc32c, "mono less"), td(array.source, "text less"))));
    more.hidden = body.children.length >= arrays.total;
    say(more, "More: " + count(body.children.length) + " of " + count(arrays.total));
  }
  load();
  return [cell];
}

async function look(name) {
  const dialog = byId("look");
  say(byId("look-name"), name);
  say(byId("look-form"), "");
  say(byId("look-text"), "…");
  byId("look-picture").hidden = true;
  byId("look-sums").replaceChildren();
  byId("look-files").replaceChildren();
  byId("look-histogram").tBodies[0].replaceChildren();
  if (!dialog.open) dialog.showModal();
  const answer = await fetch("/look.json?" + new URLSearchParams({ name }));
  if (!answer.ok) { say(byId("look-text"), await answer.text() || "refused: " + answer.status); return; }
  const array = await answer.json();
  const shape = "(" + array.shape.join(", ") + ")";
  say(byId("look-form"), "dtype " + (typeof array.dtype === "string" ? array.dtype : JSON.stringify(array.dtype)) + ", shape " + shape + ", order " + array.order
    + ", rows " + array.firstRow + " to " + (array.firstRow + array.rows));
  say(byId("look-text"), array.text);
  if (array.column) byId("look-form").append("; part of a column of " + array.column + ", " + count(array.columnRows) + " rows");
  byId("look-files").replaceChildren(...Array.from({ length: array.files || 0 }, (_, row) =>
    make("img", { src: "/look.file?" + new URLSearchParams({ name, row }), alt: "row " + row, title: "row " + row })));
  if (array.images) {
    const picture = byId("look-picture");
    picture.src = "/look.png?" + new URLSearchParams({ name, v: array.shape.join() });
    picture.alt = array.images + " images of " + name;
    picture.hidden = false;
  }
  if (array.count !== undefined) {
    const part = array.count < array.elements ? "first " + count(array.count) + " of " + count(array.elements) : count(array.count);
    const sums = [["elements", part], ["min", array.min], ["max", array.max], ["mean", digits(array.mean)], ["std", digits(array.std)], ["nan", array.nanCount]];
    byId("look-sums").replaceChildren(...sums.map(([key, value]) => make("div", {}, make("dt", {}, key), make("dd", {}, value))));
    if (array.histogram) {
      const most = Math.max(1, ...array.histogram.counts);
      const edge = (n) => Number.isInteger(n) ? String(n) : n.toPrecision(4);
      bars(byId("look-histogram"), array.histogram.counts.map((n, i) => [edge(array.histogram.edges[i]), n, n / most]));
    }
  }
}

function showHolders(now) {
  const most = now.holders.slice().sort((a, b) => b.bytes - a.bytes);
  sync(table("holders", most, most.length), few("holders", most, FEW_HOLDERS), (row) => String(row.pid), (row) => [
    td(row.pid, "nowrap"), td(row.user), td(size(row.bytes), "n"), td(row.datasets.concat(row.feeds.map((feed) => feed + " (feed)")).join(", "), "name"),
    td(row.run ? (row.run.kind === "launch" ? "rank " + row.run.number + "/" + row.run.size : "job " + row.run.number)
      + (row.run.name ? " of " + row.run.name : "") : "", "less"),
    td(row.command, "mono text least"),
  ]);
}

// Writes numbers as ranges: 0–3, 6.
function ranges(numbers) {
  const parts = [];
  for (const n of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last && last[1] === n - 1) last[1] = n;
    else parts.push([n, n]);
  }
  return parts.map(([first, last]) => first === last ? first : first + "–" + last).join(", ");
}

// Gathers the holders that are ranks of a launch, or jobs of a grid. Launches without a name are told apart by their size alone.
function runsOf(now, kind) {
  const runs = new Map();
  for (const row of now.holders) {
    if (row.run?.kind !== kind) continue;
    const key = row.run.name + "\n" + row.run.size;
    if (!runs.has(key)) runs.set(key, { key, name: row.run.name, size: row.run.size, numbers: [], pids: [], users: new Set(), holds: new Set() });
    const run = runs.get(key);
    run.numbers.push(row.run.number);
    run.pids.push(row.pid);
    run.users.add(row.user);
    row.datasets.concat(row.feeds.map((feed) => feed + " (feed)")).forEach((name) => run.holds.add(name));
  }
  return [...runs.values()].map((run) => ({ ...run, users: [...run.users], holds: [...run.holds].sort() }));
}

function showRuns(now) {
  for (const [id, kind] of [["launches", "launch"], ["grids", "grid"]]) {
    const runs = runsOf(now, kind);
    sync(table(id, runs, runs.length), runs, (run) => run.key, (run) => [
      td(run.name || "without a name", run.name ? "name" : "text"), td(ranges(run.numbers) + (run.size ? " of " + run.size : ""), "nowrap"), td(run.holds.join(", "), "name"),
      td(run.users.join(", "), "less"), td(run.pids.join(", "), "less text"),
    ]);
  }
}

function showFeeds(now) {
  sync(table("feeds", now.feeds, now.feeds.length), now.feeds, (feed) => feed.name, (feed) => [
    td(feed.name, "name"), td(feed.pid, "nowrap"), td(feed.datasets.join(", "), "less"), td(feed.epoch === null ? "" : feed.epoch, "n"), td(count(feed.batches), "n"),
    td(feed.batchesPerSecond.toFixed(1), "n less"),
    td(feed.consumers.map((one) => (one.pid ? "pid " + one.pid : "hidden process") + " " + one.state + (one.behind ? ", " + one.behind + " behind" : "")).join("; ") || "none", "name"),
  ]);
}

// Writes the shares of a trainer's time, the largest first.
function shares(loader) {
  return Object.entries(loader.shares).filter(([, share]) => share >= 0.005).sort((a, b) => b[1] - a[1])
    .map(([cause, share]) => cause + " " + Math.round(100 * share) + " %").join(", ");
}

function showLoaders(now) {
  sync(table("loaders", now.loaders, now.loaders.length), now.loaders, (loader) => loader.id, (loader) => [
    td(loader.feed ?? loader.dataset, "name"), td(loader.pid, "nowrap"), td(loader.program, "less"), td(count(loader.batches), "n less"),
    td(loader.batchesPerSecond.toFixed(1), "n"), td(shares(loader), "text"), td(loader.advice, "text"),
  ]);
}

function showErrors(now) {
  const newestFirst = now.errors.slice().reverse();
  sync(table("errors", newestFirst, newestFirst.length), few("errors", newestFirst, FEW_ERRORS), (row) => row.first + row.message.slice(0, 80), (row) => [
    td(new Date(row.last).toLocaleTimeString("en-GB"), "nowrap", "first " + row.first), td(count(row.count), "n"), td(row.message, "name"),
  ]);
}

function showFindings(now) {
  const urgent = now.findings.filter((finding) => ["problem", "warning"].includes(finding.severity));
  const others = now.findings.filter((finding) => finding.severity === "info");
  for (const [id, list] of [["findings", urgent], ["notes", others]]) {
    sync(table(id, list, list.length), list, (row) => row.check, (row) => {
      const found = make("td", { class: "name" }, row.found);
      if (row.remedy) found.append(make("span", { class: "remedy" }, row.remedy));
      return [td(row.severity, "severity-" + row.severity), td(row.check, "nowrap"), found];
    });
  }
  byId("well").hidden = urgent.length > 0 || now.errors.length > 0;
}

function trouble(text) {
  const line = byId("trouble");
  line.hidden = !text;
  say(line, text);
  document.querySelector("main").classList.toggle("old", Boolean(text));
}

function show(now) {
  document.querySelector("main").hidden = false;
  remember(now);
  [showFacts, showSpace, showCharts, showLoads, showDatasets, showHolders, showRuns, showFeeds, showLoaders, showErrors, showFindings].forEach((part) => part(now));
  view.last = now;
}

async function poll() {
  clearTimeout(timer);
  const began = performance.now();
  const question = new URLSearchParams({ from: view.from, count: ROWS, match: view.match, sort: view.sort, order: view.order });
  try {
    const answer = await fetch("/status.json?" + question, {
      cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS), headers: view.etag ? { "If-None-Match": view.etag } : {},
    });
    if (answer.status === 401) {
      trouble("The daemon was started again, with a new token. Open the address of the status page that larder serve printed.");
      return; // no use in asking again
    }
    if (answer.status !== 304 && !answer.ok) throw new Error("HTTP " + answer.status);
    const now = answer.status === 304 ? view.last : await answer.json();
    view.etag = answer.headers.get("ETag") || "";
    trouble("");
    show(now);
    say(byId("polled"), "as of " + new Date().toTimeString().slice(0, 8) + ", answered in " + Math.round(performance.now() - began) + " ms");
  } catch (e) {
    view.etag = "";
    trouble("The daemon does not answer; this page shows what it said last. Trying again every second. (" + e.message + ")");
  }
  if (!document.hidden) timer = setTimeout(poll, Math.max(200, POLL_MS - (performance.now() - began)));
}

function changeTheme() {
  const dark = document.documentElement.classList.toggle("dark");
  localStorage.setItem("larder-theme", dark ? "dark" : "light");
  if (charts.length) drawCharts();
}

function begin() {
  const wanted = localStorage.getItem("larder-theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.classList.toggle("dark", wanted ? wanted === "dark" : system.matches);
  system.addEventListener("change", () => {
    if (!localStorage.getItem("larder-theme")) {
      document.documentElement.classList.toggle("dark", system.matches);
      if (charts.length) drawCharts();
    }
  });
  byId("theme").addEventListener("click", changeTheme);
  byId("match").addEventListener("input", (event) => { view.match = event.target.value; view.from = 0; poll(); });
  byId("previous").addEventListener("click", () => { view.from = Math.max(0, view.from - ROWS); poll(); });
  byId("next").addEventListener("click", () => { view.from += ROWS; poll(); });
  document.querySelectorAll("[data-sort]").forEach((button) => button.addEventListener("click", () => {
    const key = button.dataset.sort;
    if (!key) return;
    view.order = view.sort === key && view.order === "asc" ? "desc" : view.sort === key || key === "name" || key === "state" ? "asc" : "desc";
    view.sort = key;
    view.from = 0;
    document.querySelectorAll("#datasets th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
    button.parentElement.setAttribute("aria-sort", view.order === "asc" ? "ascending" : "descending");
    poll();
  }));
  document.querySelectorAll("section > .more").forEach((button) => button.addEventListener("click", () => {
    const id = button.parentElement.id;
    if (!view.whole.delete(id)) view.whole.add(id);
    [showErrors, showHolders].forEach((part) => part(view.last));
  }));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) {
      if (event.key === "Escape" && event.target.id === "match") event.target.blur();
      return;
    }
    if (event.key === "/") { event.preventDefault(); byId("match").focus(); }
    else if (event.key === "t") changeTheme();
  });
  let wait = 0;
  addEventListener("resize", () => {
    clearTimeout(wait);
    wait = setTimeout(fitCharts, 100);
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) poll(); });
  recall().then(poll);
}

begin();
