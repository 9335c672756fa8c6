// Bug museums: radio buttons that show one exhibit at a time.
(function () {
  "use strict";

  function start(museum, number) {
    const exhibits = [...museum.querySelectorAll(":scope > .exhibit")];
    const controls = document.createElement("fieldset");
    controls.className = "museum-controls";
    const legend = document.createElement("legend");
    legend.textContent = "Switch on";
    controls.append(legend);

    const radios = exhibits.map((exhibit, index) => {
      const radio = document.createElement("input");
      Object.assign(radio, { type: "radio", name: `museum-${number}`, value: String(index), checked: index === 0 });
      const label = document.createElement("label");
      label.append(radio, ...exhibit.querySelector(".exhibit-name").cloneNode(true).childNodes);
      controls.append(label);
      return radio;
    });

    function show() {
      exhibits.forEach((exhibit, index) => {
        exhibit.hidden = !radios[index].checked;
      });
      window.dispatchEvent(new Event("resize")); // boxes that scroll are measured when they show
    }

    controls.addEventListener("change", show);
    exhibits[0].before(controls);
    show();
  }

  document.querySelectorAll(".museum").forEach(start);
})();
