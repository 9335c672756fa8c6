// On paper: light, and everything unfolded. (What style sheets alone can do of it stands in elements.css.)
(function () {
  "use strict";
  const root = document.documentElement;
  const print = window.matchMedia("print");
  let restore = null;

  function change() {
    if (print.matches && !restore) {
      const theme = root.dataset.theme;
      const folded = [...document.querySelectorAll("main details:not([open])")];
      root.dataset.theme = "light";
      folded.forEach((details) => { details.open = true; });
      restore = () => {
        root.dataset.theme = theme;
        folded.forEach((details) => { details.open = false; });
      };
    } else if (!print.matches && restore) {
      restore();
      restore = null;
    }
  }

  print.addEventListener("change", change);
})();
