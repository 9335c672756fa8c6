// Try it here: a button under each exercise that can be solved on its page. What it needs is loaded when it is pressed.
(function () {
  "use strict";
  const BUILT = /* what the build knows */ { version: "", megabytes: 0 };
  const folder = new URL("try/", document.currentScript.src);
  let panel;

  function script(address) {
    return new Promise((resolve, reject) => {
      const made = Object.assign(document.createElement("script"), { src: address, onload: resolve });
      made.onerror = () => {
        made.remove();
        reject(new Error("not loaded"));
      };
      document.head.append(made);
    });
  }

  function offer(box) {
    const { label } = box.dataset;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "u-button", textContent: label });
    const told = Object.assign(document.createElement("p"), { className: "try-here-told" });
    const loads = `Loads about ${BUILT.megabytes} MB the first time`;
    told.textContent = box.dataset.scratch ? `${loads}.` : `${loads}. Nothing is installed, and what you write stays in this browser.`;
    told.id = `${box.id}-told`;
    button.setAttribute("aria-describedby", told.id);
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        panel ??= script(new URL(`panel.js?v=${BUILT.version}`, folder));
        await panel;
        self.unrolledTry.open(box, folder);
      } catch {
        panel = undefined;
        told.textContent = "This could not be loaded. Is the connection there, or was only this page copied? Press the button again, or use the notebook.";
      }
      button.disabled = false;
    });
    const first = box.querySelector(".try-first-report");
    if (first) first.before(button, told);
    else box.append(button, told);
  }

  document.querySelectorAll(".try-here").forEach(offer);
})();
