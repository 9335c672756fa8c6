// Questions: the listed options become radio buttons, and the chosen one is answered. Nothing is sent or kept.
(function () {
  "use strict";

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  function start(quiz) {
    const options = [...quiz.querySelectorAll(".quiz-options > li")];
    const details = quiz.querySelector(".quiz-answers");
    const answers = [...details.querySelectorAll("li")];
    const question = quiz.querySelector(".quiz-question");
    question.id = `${quiz.id}-question`;

    const radios = options.map((option, index) => {
      const radio = element("input", { type: "radio", name: quiz.id, value: String(index) });
      // The letter is a word, no marker: axe-core finds no name in a label that holds a formula alone.
      const letter = element("span", { className: "quiz-letter" }, `${String.fromCharCode(65 + index)}.`);
      const label = element("label", {}, radio, letter, ...option.childNodes);
      option.append(label);
      return radio;
    });
    const list = quiz.querySelector(".quiz-options");
    list.classList.add("quiz-lettered");
    const group = element("div");
    group.setAttribute("role", "radiogroup");
    group.setAttribute("aria-labelledby", question.id);
    list.replaceWith(group);
    group.append(list);

    const answer = element("div", { className: "quiz-answer" });
    answer.setAttribute("role", "status");
    const form = element("form", { className: "quiz-form" }, group, element("button", { className: "u-button" }, "Check"), answer);
    details.before(form);
    details.hidden = true; // until something was chosen

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const index = radios.findIndex((radio) => radio.checked);
      if (index < 0) {
        answer.replaceChildren("Choose an answer first.");
        return;
      }
      options.forEach((option, at) => {
        option.classList.toggle("quiz-right", at === index && "right" in option.dataset);
        option.classList.toggle("quiz-wrong", at === index && !("right" in option.dataset));
      });
      const told = answers[index].cloneNode(true);
      told.querySelectorAll("[id]").forEach((node) => node.removeAttribute("id"));
      answer.replaceChildren(...told.childNodes);
      details.hidden = false;
      details.firstElementChild.textContent = "All the answers";
    });
    // A new choice has not been answered yet.
    form.addEventListener("change", () => {
      answer.replaceChildren();
      options.forEach((option) => option.classList.remove("quiz-right", "quiz-wrong"));
    });
  }

  document.querySelectorAll(".quiz").forEach(start);
})();
