// Shared by all explorables: elements, numbers and symbols in the book's notation, and tables.
(function () {
  "use strict";

  const SVG = ["svg", "g", "line", "path", "circle", "rect", "text", "tspan"];

  function make(tag, attributes, ...children) {
    const made = SVG.includes(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children.flat());
    return made;
  }

  function shown(value, digits) {
    const text = value.toFixed(digits);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  }

  // W_xh as it is typeset: W with a subscript.
  function symbol(name) {
    const [base, below] = name.split("_");
    return [make("var", {}, base), make("sub", {}, below)];
  }

  // Rows are [name, cells, class].
  function table(caption, columns, rows) {
    const head = make("tr", {}, make("td"), columns.map((column) => make("th", { scope: "col" }, column)));
    const body = rows.map(([name, cells, kind]) => make("tr", { class: kind || "" }, make("th", { scope: "row" }, name), cells));
    return make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, body));
  }

  // Pictures: their elements, a path along points, and a frame of title, picture and note.
  const text = (x, y, kind, ...words) => make("text", { x, y, class: kind }, ...words);
  const line = (kind, d = "") => make("path", { d, class: kind });
  const box = (x, y, width, height) => make("rect", { x, y, width, height, class: "frame" });
  const drawing = (width, height, ...parts) => make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" }, ...parts);
  const along = (points) => `M ${points.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join(" L ")}`;
  const panel = (title, note, ...parts) => make("div", { class: "panel" }, make("p", { class: "title" }, title), ...parts, make("p", { class: "note" }, ...note));

  // Sliders and choices, and the page's address, which holds their values in the order of `names`: #lag=20&radius=1.5
  // A slider is name: [label, smallest, largest, step, digits, at first], a choice name: [label, values, at first].
  // `show` is called with the values whenever one changes, and for the first time by `restore`.
  function settings(explorable, names, sliders, choices, show) {
    const first = Object.fromEntries(names.map((name) => [name, (sliders[name] ?? choices[name]).at(-1)]));
    const rows = {}, update = [];
    let now = first, later;

    for (const [name, [label, min, max, step, digits]] of Object.entries(sliders)) {
      const input = make("input", { type: "range", min, max, step, name: `${explorable}-${name}`, autocomplete: "off" });
      const output = make("span", { class: "value", "aria-hidden": true });
      input.addEventListener("input", () => change({ [name]: +input.value }));
      update.push(() => {
        input.value = now[name];
        output.textContent = shown(now[name], digits);
      });
      rows[name] = make("label", { class: "slider" }, make("span", {}, label), input, output);
    }
    const fieldsets = Object.entries(choices).map(([name, [label, values]]) => make("fieldset", {}, make("legend", {}, label), values.map((value) => {
      const input = make("input", { type: "radio", name: `${explorable}-${name}`, value, autocomplete: "off" });
      input.addEventListener("change", () => change({ [name]: value }));
      update.push(() => (input.checked = now[name] === value));
      return make("label", {}, input, value);
    })));
    const reset = make("button", { type: "button", class: "u-button" }, "Reset");
    reset.addEventListener("click", () => change(first));

    // The values, or null if the hash belongs to something else or is malformed.
    function parse(hash) {
      const parts = hash.replace(/^#/, "").split("&").map((part) => part.split("="));
      if (parts.length !== names.length) return null;
      const found = {};
      for (const [at, [name, text, ...more]] of parts.entries()) {
        if (name !== names[at] || text === undefined || more.length) return null;
        if (choices[name]) {
          if (!choices[name][1].includes(text)) return null;
          found[name] = text;
        } else {
          const [, least, most, step] = sliders[name], value = +text, ticks = value / step;
          if (!/^\d{1,2}(\.\d{1,2})?$/.test(text) || value < least || value > most || Math.abs(ticks - Math.round(ticks)) > 1e-6) return null;
          found[name] = value;
        }
      }
      return found;
    }

    function remember() {
      const changed = names.some((name) => now[name] !== first[name]);
      const ours = changed ? `#${names.map((name) => `${name}=${now[name]}`).join("&")}` : "";
      if (!ours && !location.hash.startsWith(`#${names[0]}=`)) return;
      try {
        history.replaceState(null, "", location.pathname + location.search + ours);
      } catch {
        location.replace(ours || "#");
      }
    }

    // While a slider is dragged, the address waits: browsers refuse too many changes of it.
    function change(news) {
      now = { ...now, ...news };
      showAll();
      clearTimeout(later);
      later = setTimeout(remember, 150);
    }

    function restore() {
      now = parse(location.hash) ?? now;
      showAll();
    }

    function showAll() {
      update.forEach((each) => each());
      show(now);
    }

    window.addEventListener("hashchange", restore);
    return { rows, fieldsets, reset, change, restore };
  }

  window.explorableParts = { along, box, drawing, line, make, panel, settings, shown, symbol, table, text };
})();
