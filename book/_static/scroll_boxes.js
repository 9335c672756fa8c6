// A box that scrolls sideways must be reachable with the keyboard (axe: scrollable-region-focusable).
// Only boxes that do scroll at this width become tab stops.
(function () {
  "use strict";
  var SELECTOR = "div.math, mjx-container[display], .highlight pre, .cell_output .output, .pst-scrollable-table-container";

  function update() {
    document.querySelectorAll(SELECTOR).forEach(function (box) {
      if (box.scrollWidth > box.clientWidth) {
        box.setAttribute("tabindex", "0");
      } else {
        box.removeAttribute("tabindex");
      }
    });
  }

  function start() {
    update();
    if (window.MathJax && window.MathJax.startup) window.MathJax.startup.promise.then(update);
  }

  window.addEventListener("load", start);
  window.addEventListener("resize", update);
  document.fonts.addEventListener("loadingdone", update); // a formula is wider or narrower in its own font
  document.addEventListener("toggle", update, true); // what was folded had no size
})();
