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

  window.explorableParts = { make, shown, symbol, table };
})();
