// Starts reveal.js once all formulas are typeset, since a slide is measured before it is printed.
(function () {
  "use strict";

  const settings = {
    width: 1280,
    height: 720,
    margin: 0.03,
    center: false,
    hash: true,
    slideNumber: "c/t",
    controlsTutorial: false, // arrows that hop
    transition: "none",
    backgroundTransition: "none",
    pdfMaxPagesPerSlide: 1,
    pdfSeparateFragments: false,
    plugins: [window.RevealNotes],
  };

  window.addEventListener("load", async () => {
    await window.MathJax.startup.promise;
    await window.Reveal.initialize(settings);
    // What scrolls sideways can be reached with the keyboard.
    for (const box of document.querySelectorAll(".slides pre, .slides .table-box")) box.tabIndex = 0;
  });

  // A clicker works in an explorable too, whose page cannot turn the slides by itself.
  window.addEventListener("message", (event) => {
    if (event.data === "unrolled:next") window.Reveal.next();
    if (event.data === "unrolled:previous") window.Reveal.prev();
  });
})();
