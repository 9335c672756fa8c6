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

  // Letters of tables, code and texts get smaller until all can be seen.
  const SMALLEST = 14;
  const fit = (slides) => {
    for (const box of slides.flatMap((each) => [...each.querySelectorAll(".slide :is(.table-box, pre)")])) {
      const letters = box.querySelector("table") || box;
      let size = parseFloat(getComputedStyle(letters).fontSize);
      while (size > SMALLEST && box.scrollHeight > box.clientHeight + 1) {
        size -= 0.5;
        box.style.setProperty("--letters", `${size}px`);
      }
    }
  };
  const all = () => fit([...document.querySelectorAll(".slides")]);

  window.addEventListener("load", async () => {
    await window.MathJax.startup.promise;
    for (const seen of ["ready", "slidechanged"]) window.Reveal.on(seen, (event) => fit([event.currentSlide]));
    for (const seen of ["overviewshown", "pdf-ready"]) window.Reveal.on(seen, all);
    await window.Reveal.initialize(settings);
    // What scrolls sideways can be reached with the keyboard.
    for (const box of document.querySelectorAll(".slides pre, .slides .table-box")) box.tabIndex = 0;
  });

  // A clicker works in an explorable too, whose page cannot turn the slides by itself, nor see that they are printed.
  const paper = /[?&]print-pdf/.test(location.search);
  window.addEventListener("message", (event) => {
    if (event.data === "unrolled:here" && paper) event.source.postMessage("unrolled:paper", "*");
    if (event.data === "unrolled:next") window.Reveal.next();
    if (event.data === "unrolled:previous") window.Reveal.prev();
  });
})();
