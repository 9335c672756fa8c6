// Light or dark as the reader's system is, and light on paper, before anything is drawn; and what MathJax is told.
(function () {
  "use strict";

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = /[?&]print-pdf/.test(location.search);
  const choose = () => (document.documentElement.dataset.theme = dark.matches && !paper ? "dark" : "light");
  dark.addEventListener("change", choose);
  choose();

  // Slides that are not shown have no size to measure, so formulas take that of the text around them.
  window.MathJax = {
    options: { enableMenu: false, enableAssistiveMml: true, processHtmlClass: "math" },
    chtml: { matchFontHeight: false },
  };
})();
