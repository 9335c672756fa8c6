// An explorable in its slide: as much of it as possible is to be seen, and a clicker still turns the slides.
(function () {
  "use strict";

  // Picture and summary are to be seen without scrolling, tables need not. The size never grows again, since one that
  // goes up and down would distract.
  const SMALLEST = 0.75;
  let zoom = 1;
  const hidden = () => {
    const seen = [...document.querySelectorAll(".explorable :is(.controls, svg, .summary)")];
    const bottoms = seen.map((each) => each.getBoundingClientRect().bottom);
    return Math.max(...bottoms) + document.documentElement.scrollTop > window.innerHeight;
  };
  const fit = () => {
    while (zoom > SMALLEST && hidden()) {
      zoom -= 0.05;
      document.body.style.zoom = zoom;
    }
  };
  window.addEventListener("load", () => new ResizeObserver(fit).observe(document.body));
  window.addEventListener("resize", fit);

  // On paper it is light, as the slides around it are.
  window.addEventListener("message", (event) => {
    if (event.data === "unrolled:paper") document.documentElement.dataset.theme = "light";
  });
  if (window.parent !== window) window.parent.postMessage("unrolled:here", "*");

  // The keys of a clicker turn the slides of the deck around this page; all other keys belong to the explorable.
  window.addEventListener("keydown", (event) => {
    const told = { PageDown: "unrolled:next", PageUp: "unrolled:previous" }[event.key];
    if (!told || window.parent === window) return;
    event.preventDefault();
    window.parent.postMessage(told, "*");
  });
})();
