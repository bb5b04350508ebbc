"use strict";
// Draws the figures that the data names, with uPlot, where it says. All plots of the same data share their time axis.
for (const source of document.querySelectorAll("script[data-plots]")) {
  const page = JSON.parse(source.textContent);
  const place = document.getElementById(source.dataset.plots);
  const times = Array.from({ length: page.bins }, (_, k) => (k + 0.5) * page.step);
  const end = page.bins * page.step;

  // Okabe and Ito's colours, which colour-blind readers can tell apart (yellow left out), and dashes for grey paper.
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
  const DASHES = [[], [9, 3], [3, 2], [9, 3, 2, 3], [15, 3], [6, 2, 2, 2, 2, 2]];
  const ALL = { colour: "#444444", dash: [] };
  const look = (style) =>
    style === null ? ALL : { colour: COLOURS[style % COLOURS.length], dash: DASHES[style % DASHES.length] };

  // Canvases as dense as on a good screen even on a plain one, so that they print well.
  if (devicePixelRatio < 2) Object.defineProperty(window, "devicePixelRatio", { value: 2 });

  const FONT = '"Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif';
  const GRID = { stroke: "#e6e6e6", width: 1 };
  // More curves than this are not shown until somebody asks for them.
  const SHOWN = 12;
  const plots = [];

  function element(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  // A piece of the line, as the legend shows it.
  function sample({ colour, dash }, wide, points) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [key, value] of Object.entries({ width: 30, height: 10 })) svg.setAttribute(key, value);
    if (points) {
      const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      for (const [key, value] of Object.entries({ cx: 22, cy: 5, r: 3.5, fill: "#fff", stroke: colour, "stroke-width": 2 })) circle.setAttribute(key, value);
      svg.append(circle);
      return svg;
    }
    const stroke = { x1: 0, x2: 30, y1: 5, y2: 5, stroke: colour, "stroke-width": wide ? 9 : 2, "stroke-dasharray": dash.join(" ") };
    for (const [key, value] of Object.entries(stroke)) line.setAttribute(key, value);
    if (wide) line.setAttribute("stroke-opacity", 0.25);
    svg.append(line);
    return svg;
  }

  const digits = (value) =>
    value === null || value === undefined ? "–" : value.toLocaleString("en", { maximumSignificantDigits: 4, useGrouping: false });

  // A box beside the cursor that tells the time and each curve's value.
  function values() {
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
      const unit = /\((Mbps|Gbps|packets|ms)\)/.exec(u.axes[1].label);
      const head = element("tr", {}, element("td", {}, `${digits(u.data[0][idx])} s`), element("td", {}, unit ? unit[1] : ""));
      box.replaceChildren(element("table", {}, head, ...rows));
      const gap = 14;
      const flip = left + gap + box.offsetWidth > u.over.clientWidth;
      box.style.left = `${u.over.offsetLeft + (flip ? left - gap - box.offsetWidth : left + gap)}px`;
      box.style.top = `${u.over.offsetTop + Math.max(0, Math.min(top, u.over.clientHeight - box.offsetHeight))}px`;
    };
    const hide = () => { box.hidden = true; };
    return { hooks: { init: (u) => { u.root.querySelector(".u-wrap").append(box); u.over.addEventListener("mouseleave", hide); }, setCursor: show } };
  }

  // Whatever shows a stretch of time, all plots show it.
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

  function range(figure) {
    if (figure.log) return (u, min, max) => (min === null ? [0.1, 1] : [min / 1.2, max * 1.2]);
    return (u, low, high) => {
      if (figure.top !== null) return [0, figure.top];
      if (low === null || high === null) return [0, 1];
      const level = figure.level !== null && figure.level[0] < 1.4 * high ? figure.level[0] : 0;
      const top = Math.max(high, level);
      if (figure.from_zero) return [0, top > 0 ? top * 1.04 : 1];
      const margin = Math.max((high - low) * 0.06, high * 0.005);
      return [low - margin, high + margin];
    };
  }

  // Ticks of a logarithmic axis: powers of ten, and 2 and 5 times these where they are few.
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

  function plot(figure, legend, node, height, last) {
    const curves = figure.lines.map((line, i) => (
      { ...line, ...look(line.entry === null ? null : legend[line.entry].style), alone: i >= figure.lines.length - figure.points }));
    const band = figure.band;
    const series = curves.map(({ name, colour, dash, entry, alone }) => (
      { label: name, stroke: alone ? "transparent" : colour, swatch: colour, dash: dash.map((length) => length * uPlot.pxRatio), entry, width: 1.5,
        points: alone ? { show: true, size: 7, stroke: colour, fill: "#fff", width: 2 } : { show: false } }));
    const across = figure.across;
    const logarithmic = across !== null && !figure.linear;
    const data = [across === null ? times : across.values, ...curves.map((line) => line.values)];
    const bands = [];
    if (band !== null) {
      const { colour } = look(legend[band.entry].style);
      const edge = { stroke: "transparent", swatch: `${colour}40`, entry: band.entry, width: 0, points: { show: false } };
      bands.push({ series: [series.length + 1, series.length + 2], fill: `${colour}40` });
      series.push({ ...edge, label: "90 %" }, { ...edge, label: "10 %" });
      data.push(band.high, band.low);
    }
    const axis = { font: `12px ${FONT}`, labelFont: `13px ${FONT}`, stroke: "#1a1a1a", grid: GRID, ticks: { stroke: "#999", width: 1, size: 4 } };
    const whole = across === null ? { min: 0, max: end } : { min: across.values[0], max: across.values[across.values.length - 1] };
    const options = {
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
      scales: { x: { time: false, distr: logarithmic ? 3 : 1, range: (u, from, to) => (from === null ? [whole.min, whole.max] : [from, to]) }, y: { range: range(figure), distr: figure.log ? 3 : 1 } },
      axes: [
        { ...axis, ...(logarithmic ? LOGARITHMIC : {}), label: across !== null ? across.axis : last ? "Time (s)" : undefined, labelSize: 20, size: 28, gap: 4 },
        { ...axis, ...(figure.log ? LOGARITHMIC : {}), label: figure.axis, labelSize: 20, size: 54, gap: 4, space: 32 },
      ],
      padding: [10, 10, 0, 0],
      plugins: [values()],
      hooks: {
        draw: [level(figure)],
        setScale: [(u, key) => { if (key === "x" && across === null) zoom(u.scales.x.min, u.scales.x.max); }],
      },
    };
    const u = new uPlot(options, data, node);
    node.plot = u;
    if (across === null) plots.push(u);
    new ResizeObserver(() => { if (node.clientWidth !== u.width) u.setSize({ width: node.clientWidth, height }); }).observe(node);
  }

  // From low to high, ever brighter: Nuñez, Anderton and Renslow's cividis, coarsely; as in figures for papers.
  const CIVIDIS = [[0, 34, 78], [65, 77, 107], [124, 123, 120], [188, 175, 111], [254, 232, 56]];
  function colour(place) {
    const at = place * (CIVIDIS.length - 1);
    const i = Math.min(Math.floor(at), CIVIDIS.length - 2);
    return `rgb(${CIVIDIS[i].map((low, k) => Math.round(low + (CIVIDIS[i + 1][k] - low) * (at - i))).join(" ")})`;
  }

  // A square's two digits.
  function brief(value) {
    if (value >= 995) return `${(value / 1e3).toFixed(value >= 9950 ? 0 : 1)}k`;
    return value.toFixed(value >= 9.95 || value === 0 ? 0 : value >= 0.095 ? 1 : 2);
  }

  // A matrix, as a table: pointing at a square says what it is.
  function matrix(figure, node) {
    const { row, rows, column, columns, values: all, ends, log } = figure.heat;
    const scale = (value) => (log ? Math.log10(Math.max(value, ends[0])) : value);
    const place = (value) => {
      const [from, to] = ends.map(scale);
      return to > from ? Math.min(1, Math.max(0, (scale(value) - from) / (to - from))) : 0.5;
    };
    const said = element("p", { class: "said" });
    const hint = `${figure.axis}. Rows: ${row.toLowerCase()}; columns: ${column.toLowerCase()}.`;
    said.textContent = hint;
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
    node.append(said, table);
  }

  function draw(group) {
    const legend = element("div", { class: "legend", role: "group", "aria-label": "Curves" });
    const panels = element("div", { class: group.panels && !group.figures.some((figure) => figure.heat !== null) ? "panels" : "stack" });
    const section = element("section", {});
    if (group.title !== null) section.append(element("h2", {}, group.title));
    section.append(legend, panels);
    place.append(section);
    const own = [];
    group.figures.forEach((figure, i) => {
      const node = element("figure", { "aria-label": figure.axis });
      if (figure.title !== null) node.append(element("figcaption", {}, figure.title));
      panels.append(node);
      if (figure.heat !== null) {
        matrix(figure, node);
        return;
      }
      const next = group.figures[i + 1];
      const last = group.panels || next === undefined || next.across !== null;
      plot(figure, group.legend, node, group.panels ? 210 : figure.across !== null && group.figures.length === 1 ? 340 : (i === 0 ? 250 : figure.across !== null ? 230 : 190) + (last ? 20 : 0), last);
      own.push(node.plot);
    });
    if (group.legend.length < 2) return;
    group.legend.forEach(({ name, style, band, points }, entry) => {
      const button = element("button", { type: "button" }, sample(look(style), band, points), name);
      const show = (shown) => {
        button.setAttribute("aria-pressed", shown);
        for (const u of own) {
          u.batch(() => u.series.forEach((series, i) => { if (i > 0 && series.entry === entry) u.setSeries(i, { show: shown }); }));
        }
      };
      button.addEventListener("click", () => show(button.getAttribute("aria-pressed") !== "true"));
      show(entry < SHOWN);
      legend.append(button);
    });
  }

  for (const group of page.groups) draw(group);
  zoom(0, end);
}
