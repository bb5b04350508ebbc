// Draws the figures that the page carries as data, with uPlot. Each script element of data names the element to draw in.
// STYLES has the colours and dashes (figure/style.rs); what the data are is told in figure/page.rs.

const FONT = '"Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif';
const GRID = { stroke: "#e6e6e6", width: 1 };
// A legend with more entries than this begins with the others hidden.
const SHOWN = 12;
// A legend with more entries than this stands in columns.
const MANY = 8;
// A horizontal axis with no more places than this is longer by this share at either end.
const FEW_PLACES = 12;
const BESIDE = 0.04;

// Width of a figure on paper, in pixels: A4 less its margins. Letters then have the same size in all printed figures.
const PAPER = 688;
let printing = false;

// Canvases as dense as on a good screen even on a plain one, so that they print well.
if (devicePixelRatio < 2) Object.defineProperty(window, "devicePixelRatio", { value: 2 });

const look = (style) =>
  style === null
    ? { colour: STYLES.neutral, dash: [] }
    : { colour: STYLES.colours[style % STYLES.colours.length], dash: STYLES.dashes[style % STYLES.dashes.length] };

const digits = (value) =>
  value === null || value === undefined ? "–" : value.toLocaleString("en", { maximumSignificantDigits: 4, useGrouping: false });

// The unit that the name of an axis ends in.
const unit = (axis) => (/\((Mbps|Gbps|packets|ms|s|kB|bytes)\)$/.exec(axis) ?? ["", ""])[1];

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function drawing(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// A name that may be long: a line breaks between its parts, not within a word (html/name.rs).
function named(name) {
  const words = (part) => part.split(" ").flatMap((word, i) => [...(i > 0 ? [" "] : []), element("span", { class: "word" }, word)]);
  return name.split(/(?<=, )/).flatMap((part, i) => {
    const text = part.trimEnd();
    return [...(i > 0 ? [" "] : []), element("span", text.length <= 32 ? { class: "part" } : {}, ...words(text))];
  });
}

// What stands before a name in the legend: a piece of the line, of the band or a point.
function sample({ style, mark }) {
  const { colour, dash } = look(style);
  const line = { x1: 0, x2: 30, y1: 5, y2: 5, stroke: colour };
  const pieces = {
    line: () => drawing("line", { ...line, "stroke-width": 2, "stroke-dasharray": dash.join(" ") }),
    band: () => drawing("line", { ...line, "stroke-width": 9, "stroke-opacity": 0.25 }),
    points: () => drawing("circle", { cx: 22, cy: 5, r: 3.5, fill: "#fff", stroke: colour, "stroke-width": 2 }),
    stated: () => drawing("path", { d: "M15 0l5 5l-5 5l-5 -5Z", fill: "#fff", stroke: colour, "stroke-width": 1.5 }),
    range: () => drawing("path", { d: "M10 1h10M15 1V9M10 9h10", stroke: colour, "stroke-width": 1.5 }),
  };
  return drawing("svg", { width: 30, height: 10 }, pieces[mark]());
}

// A box beside the cursor with the place on the horizontal axis and each line's value there.
function values(across) {
  const box = element("div", { class: "values", hidden: "" });
  const show = (u) => {
    const { idx, left, top } = u.cursor;
    const here = idx !== null && idx !== undefined && left >= 0 && u.over.matches(":hover");
    box.hidden = !here;
    if (!here) return;
    const rows = u.series.slice(1).flatMap((series, i) => {
      if (!series.show || !series.label) return [];
      const swatch = element("i");
      swatch.style.background = series.swatch;
      return [element("tr", {}, element("td", {}, swatch, series.label), element("td", {}, digits(u.data[i + 1][idx])))];
    });
    const place = `${digits(u.data[0][idx])} ${across === null ? "s" : unit(across.axis)}`;
    box.replaceChildren(element("table", {}, element("tr", {}, element("td", {}, place), element("td", {}, unit(u.axes[1].label))), ...rows));
    const gap = 14;
    const flip = left + gap + box.offsetWidth > u.over.clientWidth;
    const beside = u.over.offsetLeft + (flip ? left - gap - box.offsetWidth : left + gap);
    box.style.left = `${Math.max(beside, Math.min(0, u.over.offsetLeft + u.over.clientWidth - box.offsetWidth))}px`;
    box.style.top = `${u.over.offsetTop + Math.max(0, Math.min(top, u.over.clientHeight - box.offsetHeight))}px`;
  };
  const hide = () => { box.hidden = true; };
  return { hooks: { init: (u) => { u.root.querySelector(".u-wrap").append(box); u.over.addEventListener("mouseleave", hide); }, setCursor: show } };
}

// The extent of the vertical axis, as uPlot asks for it.
function extent({ vertical, level, stated }) {
  const said = stated.flatMap(({ values }) => values);
  if (vertical === "logarithmic") {
    return (u, low, high) => (low === null ? [0.1, 1] : [Math.min(low, ...said) / 1.2, Math.max(high, ...said) * 1.2]);
  }
  return (u, least, most) => {
    if (vertical.to !== undefined) return [0, vertical.to];
    if (least === null || most === null) return [0, 1];
    const [low, high] = [Math.min(least, ...said), Math.max(most, ...said)];
    const top = Math.max(high, level !== null && level[0] < 1.4 * high ? level[0] : 0);
    if (vertical === "from-zero") return [0, top > 0 ? top * 1.04 : 1];
    const margin = Math.max((high - low) * 0.06, high * 0.005);
    return [low - margin, high + margin];
  };
}

// The ends of a horizontal axis that is not time: if it has few places, beyond the outermost ones.
function ends({ across }) {
  const [min, max] = [across.values[0], across.values[across.values.length - 1]];
  if (across.values.length > FEW_PLACES) return { min, max };
  if (across.log) return { min: min / (max / min) ** BESIDE, max: max * (max / min) ** BESIDE };
  return { min: min - (max - min) * BESIDE, max: max + (max - min) * BESIDE };
}

// Ticks of a logarithmic axis: powers of ten, and two and five times these where powers are few.
function decades(u, axis, from, to) {
  const steps = Math.log10(to / from) < 2.5 ? [1, 2, 5] : [1];
  const powers = Array.from({ length: 31 }, (_, i) => 10 ** (i - 12));
  return powers.flatMap((power) => steps.map((step) => step * power)).filter((value) => from <= value && value <= to);
}
const LOGARITHMIC = {
  splits: decades,
  filter: (u, splits) => splits,
  values: (u, splits) => splits.map((value) => (value >= 1e6 ? `${digits(value / 1e6)} M` : value >= 1e3 ? `${digits(value / 1e3)} k` : value < 1e-3 ? value.toExponential() : digits(value))),
};

// Draws a dotted line at the level to compare with, and its name.
function level(figure) {
  return (u) => {
    if (figure.level === null) return;
    const [value, name] = figure.level;
    const y = u.valToPos(value, "y", true);
    if (y < u.bbox.top - 1 || y > u.bbox.top + u.bbox.height) return;
    const { ctx } = u;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = "#777";
    ctx.lineWidth = uPlot.pxRatio;
    ctx.setLineDash([2 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
    ctx.beginPath();
    ctx.moveTo(u.bbox.left, y);
    ctx.lineTo(u.bbox.left + u.bbox.width, y);
    ctx.stroke();
    ctx.font = `${11 * uPlot.pxRatio}px ${FONT}`;
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    ctx.fillText(name, u.bbox.left + u.bbox.width, y - 2 * uPlot.pxRatio);
    ctx.restore();
  };
}

// Draws what the paper says: a hollow marker at a value, on a level as long as it is said, or a range. What is said of a
// line that is hidden is hidden, too.
function stated(figure, legend) {
  const level = ({ along, values }) => [...along, ...values].join();
  const shared = (one) => figure.stated.filter((it) => level(it) === level(one)).length > 1;
  const colour = (entry) => look(entry === null ? null : legend[entry].style).colour;
  return (u) => {
    const { ctx, bbox } = u;
    const size = 5 * uPlot.pxRatio;
    const [right, bottom] = [bbox.left + bbox.width, bbox.top + bbox.height];
    const x = (value) => u.valToPos(value, "x", true);
    const y = (value) => u.valToPos(value, "y", true);
    const visible = ({ entry, values, at }) =>
      (entry === null || u.series.some((series, i) => i > 0 && series.entry === entry && series.show)) &&
      bbox.left - 1 <= x(at) && x(at) <= right + 1 && values.every((value) => bbox.top - 1 <= y(value) && y(value) <= bottom + 1);
    const draw = (stroke, points) => {
      const path = new Path2D();
      points.forEach(([from, ...others]) => {
        path.moveTo(...from);
        others.forEach((to) => path.lineTo(...to));
      });
      ctx.fillStyle = "#fff";
      ctx.fill(path);
      for (const [colour, width] of [["#fff", 4], [stroke, 1.5]]) {
        ctx.strokeStyle = colour;
        ctx.lineWidth = width * uPlot.pxRatio;
        ctx.stroke(path);
      }
    };
    const shown = u.saidHidden ? [] : figure.stated.filter(visible);
    ctx.save();
    ctx.setLineDash([]);
    for (const one of shown.filter(({ along, values }) => along[0] < along[1] && values[0] === values[1])) {
      const [from, to] = one.along.map((value) => Math.min(Math.max(x(value), bbox.left), right));
      // In the middle of a row of pixels, so that the line is sharp.
      const height = Math.floor(y(one.values[0])) + 0.5;
      draw(colour(shared(one) ? null : one.entry), [[[from, height], [to, height]]]);
    }
    for (const { entry, values, at } of shown) {
      const [place, [low, high]] = [x(at), values.map(y)];
      const bar = (height) => [[place - size, height], [place + size, height]];
      if (values[0] < values[1]) {
        draw(colour(entry), [bar(low), [[place, low], [place, high]], bar(high)]);
        continue;
      }
      const corners = [[0, -size], [size, 0], [0, size], [-size, 0], [0, -size]].map(([dx, dy]) => [place + dx, low + dy]);
      draw(colour(entry), [corners]);
    }
    ctx.restore();
  };
}
const SAID = ["stated", "range"];

// The colour of a place from 0 to 1 on a map.
function colour(place) {
  const at = place * (STYLES.map.length - 1);
  const i = Math.min(Math.floor(at), STYLES.map.length - 2);
  return `rgb(${STYLES.map[i].map((low, k) => Math.round(low + (STYLES.map[i + 1][k] - low) * (at - i))).join(" ")})`;
}

// Two significant digits of `value`, for a square of a map.
function brief(value) {
  if (value >= 995) return `${(value / 1e3).toFixed(value >= 9950 ? 0 : 1)}k`;
  return value.toFixed(value >= 9.95 || value === 0 ? 0 : value >= 0.095 ? 1 : 2);
}

// Draws a map, as a table; a line above it tells more of the square that is pointed at.
function map(figure, node) {
  const { row, rows, column, columns, values: all, ends, log } = figure.heat;
  const scale = (value) => (log ? Math.log10(Math.max(value, ends[0])) : value);
  const [from, to] = ends.map(scale);
  const place = (value) => (to > from ? Math.min(1, Math.max(0, (scale(value) - from) / (to - from))) : 0.5);
  const hint = `${figure.axis}. Rows: ${row.toLowerCase()}; columns: ${column.toLowerCase()}.`;
  const said = element("p", { class: "said" }, hint);
  const head = element("tr", {}, element("th"), ...columns.map((name) => element("th", { scope: "col" }, element("span", {}, name))));
  const body = rows.map((name, i) => element("tr", {}, element("th", { scope: "row" }, name), ...columns.map((other, k) => {
    const value = all[i].at(k);
    if (value === null || value === undefined) return element("td");
    const at = place(value);
    const square = element("td", {}, brief(value));
    square.style.background = colour(at);
    square.style.color = at < 0.5 ? "#fff" : "#000";
    square.addEventListener("mouseenter", () => { said.textContent = `${name}, beside ${other}: ${digits(value)} ${(/\((.*)\)/.exec(figure.axis) ?? ["", ""])[1]}`; });
    return square;
  })));
  const table = element("table", { class: "map" }, element("thead", {}, head), element("tbody", {}, ...body));
  table.addEventListener("mouseleave", () => { said.textContent = hint; });
  node.append(said, element("div", { class: "wide" }, table));
}

// Draws the figures of one element of data; those over time share their axis, and show the same stretch of it.
function drawPage(source) {
  const page = JSON.parse(source.textContent);
  const place = document.getElementById(source.dataset.plots);
  const times = Array.from({ length: page.bins }, (_, k) => (k + 0.5) * page.step);
  const end = page.bins * page.step;
  const plots = [];

  let zooming = false;
  function zoom(from, to) {
    if (zooming) return;
    zooming = true;
    for (const u of plots) {
      u.setScale("x", { min: from, max: to });
      u.root.closest("figure").dataset.from = from;
      u.root.closest("figure").dataset.to = to;
    }
    zooming = false;
  }

  function plot(figure, legend, node, height, labelled) {
    const series = figure.lines.map(({ entry, name }) => {
      const { colour, dash } = look(entry === null ? null : legend[entry].style);
      const alone = entry !== null && legend[entry]?.mark === "points";
      const points = alone ? { show: true, size: 7, stroke: colour, fill: "#fff", width: 2 } : { show: false };
      return { label: name, stroke: alone ? "transparent" : colour, swatch: colour, dash: dash.map((length) => length * uPlot.pxRatio), entry, width: 1.5, points };
    });
    const { across, band } = figure;
    const data = [across === null ? times : across.values, ...figure.lines.map((line) => line.values)];
    const bands = [];
    if (band !== null) {
      const { colour } = look(legend[band.entry].style);
      const edge = { stroke: "transparent", swatch: `${colour}40`, entry: band.entry, width: 0, points: { show: false } };
      bands.push({ series: [series.length + 1, series.length + 2], fill: `${colour}40` });
      series.push({ ...edge, label: "90 %" }, { ...edge, label: "10 %" });
      data.push(band.high, band.low);
    }
    const axis = { font: `12px ${FONT}`, labelFont: `13px ${FONT}`, stroke: "#1a1a1a", grid: GRID, ticks: { stroke: "#999", width: 1, size: 4 } };
    const whole = across === null ? { min: 0, max: end } : ends(figure);
    const [horizontal, vertical] = [across !== null && across.log, figure.vertical === "logarithmic"];
    const u = new uPlot({
      width: node.clientWidth,
      height,
      series: [{}, ...series],
      bands,
      legend: { show: false },
      cursor: {
        y: false,
        ...(across === null ? { sync: { key: source.dataset.plots } } : {}),
        drag: { x: true, y: false },
        points: { size: 6 },
        bind: { dblclick: (u) => () => (across === null ? zoom(0, end) : u.setScale("x", whole)) },
      },
      scales: {
        x: { time: false, distr: horizontal ? 3 : 1, range: (u, from, to) => (from === null ? [whole.min, whole.max] : [from, to]) },
        y: { range: extent(figure), distr: vertical ? 3 : 1 },
      },
      axes: [
        { ...axis, ...(horizontal ? LOGARITHMIC : {}), label: across !== null ? across.axis : labelled ? "Time (s)" : undefined, labelSize: 20, size: 28, gap: 4 },
        { ...axis, ...(vertical ? LOGARITHMIC : {}), label: figure.axis, labelSize: 20, size: 54, gap: 4, space: 32 },
      ],
      padding: [10, 10, 0, 0],
      plugins: [values(across)],
      hooks: {
        draw: [level(figure), stated(figure, legend)],
        setScale: [(u, key) => { if (key === "x" && across === null) zoom(u.scales.x.min, u.scales.x.max); }],
      },
    }, data, node);
    node.plot = u;
    if (across === null) plots.push(u);
    else u.setScale("x", whole);
    const fit = (width) => { if (width !== u.width) u.setSize({ width, height }); };
    new ResizeObserver(() => { if (!printing) fit(node.clientWidth); }).observe(node);
    addEventListener("beforeprint", () => { printing = true; fit(node.parentNode.className === "panels" ? PAPER / 2 - 10 : PAPER); });
    addEventListener("afterprint", () => { printing = false; fit(node.clientWidth); });
    return u;
  }

  function drawGroup(group) {
    const maps = group.figures.some((figure) => figure.heat !== null);
    const legend = element("div", { class: "legend", role: "group", "aria-label": "Lines" });
    const panels = element("div", { class: group.panels && !maps ? "panels" : "stack" });
    const section = element("section", {});
    if (group.title !== null) section.append(element("h2", {}, group.title));
    section.append(legend, panels);
    place.append(section);
    const own = [];
    group.figures.forEach((figure, i) => {
      const node = element("figure", { "aria-label": figure.axis });
      if (figure.title !== null) node.append(element("figcaption", {}, ...named(figure.title)));
      panels.append(node);
      if (figure.heat !== null) {
        map(figure, node);
        return;
      }
      const next = group.figures[i + 1];
      const labelled = group.panels || next === undefined || next.across !== null;
      const alone = figure.across !== null && group.figures.length === 1;
      const stacked = (i === 0 ? 250 : figure.across !== null ? 230 : 190) + (labelled ? 20 : 0);
      own.push(plot(figure, group.legend, node, group.panels ? 210 : alone ? 340 : stacked, labelled));
    });
    const said = ({ mark }) => SAID.includes(mark);
    if (group.legend.length < 2 && !group.legend.some(said)) return;
    if (group.legend.length > MANY) {
      legend.classList.add("many");
      legend.style.setProperty("--widest", Math.max(...group.legend.map(({ name }) => name.length)));
    }
    group.legend.forEach((item, entry) => {
      const button = element("button", { type: "button" }, sample(item), element("span", {}, ...named(item.name)));
      const show = (shown) => {
        button.setAttribute("aria-pressed", shown);
        for (const u of own) {
          if (said(item)) {
            u.saidHidden = !shown;
            u.redraw(false);
            continue;
          }
          u.batch(() => u.series.forEach((series, i) => { if (i > 0 && series.entry === entry) u.setSeries(i, { show: shown }); }));
        }
      };
      button.addEventListener("click", () => show(button.getAttribute("aria-pressed") !== "true"));
      show(entry < SHOWN || said(item));
      legend.append(button);
    });
  }

  for (const group of page.groups) drawGroup(group);
  zoom(0, end);
}

document.querySelectorAll("script[data-plots]").forEach(drawPage);
