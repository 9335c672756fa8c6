// Beam search on a small tree of translations: the reader sets the width, the length penalty and the number of steps.
// The page's address holds the settings: #step=3&width=2&penalty=0.5
(function () {
  "use strict";

  const { drawing, line, make, panel, settings, shown, table, text } = window.explorableParts;
  const NAME = "beam";
  const SOS = "⟨sos⟩", EOS = "⟨eos⟩";
  const NAMES = ["step", "width", "penalty"]; // as in the address

  // The search ---------------------------------------------------------------------------------------------------

  const finished = (beam) => beam.words.at(-1) === EOS;
  const score = (beam, penalty) => beam.logProb / beam.words.length ** penalty;

  // All hypotheses that compete at each step, best first. `from` is the row of the one that a hypothesis continues, and
  // the first `width` of them are kept.
  function search(tree, width) {
    let beams = [{ words: [], logProb: 0 }];
    const steps = [];
    while (steps.length < tree.max_length && !beams.every(finished)) {
      const competing = beams.flatMap((beam, from) => finished(beam)
        ? [{ ...beam, from }]
        : Object.entries(tree.next[beam.words.at(-1) ?? SOS]).map(([word, p]) => ({ words: [...beam.words, word], logProb: beam.logProb + Math.log(p), from })));
      competing.sort((one, other) => other.logProb - one.logProb);
      steps.push(competing);
      beams = competing.slice(0, width);
    }
    return steps;
  }

  // The explorable -----------------------------------------------------------------------------------------------

  function start(root) {
    const tree = JSON.parse(root.querySelector(".explorable-data").textContent);
    const SLIDERS = { step: ["Step t", 1, tree.max_length, 1, 0, 2], penalty: ["Length penalty α", 0, 1.5, 0.25, 2, 0] };
    const CHOICES = { width: ["Beam width", ["1", "2", "3", "4"], "2"] };
    const { rows, fieldsets, reset, restore } = settings(NAME, NAMES, SLIDERS, CHOICES, show);

    const LEFT = 22, APART = 64, TOP = 34, ROW = 21;
    const x = (step) => LEFT + APART * step, y = (row) => TOP + ROW * row;
    const inside = make("g"), svg = drawing(372, TOP + ROW * 10, inside);
    const summary = make("p", { class: "summary", role: "status" }), tables = make("div", { class: "tables" });
    const picture = panel("The tree so far", ["Bold on a solid line: kept. Crossed out on a dashed line: pruned. ", "A finished hypothesis competes on, unchanged."], svg);

    function draw(steps, width, step) {
      const parts = [text(LEFT, y(0) + 4, "word kept", SOS)];
      steps.slice(0, step).forEach((competing, at) => {
        parts.push(text(x(at + 1), 12, "told", `step ${at + 1}`));
        competing.forEach((beam, row) => {
          const kind = row < width ? "kept" : "pruned", word = beam.words.at(-1);
          parts.push(line(`branch ${kind}`, `M ${x(at) + 22} ${y(at ? beam.from : 0)} L ${x(at + 1) - 22} ${y(row)}`), text(x(at + 1), y(row) + 4, `word ${kind}`, word));
          if (kind === "pruned") parts.push(line("cross", `M ${x(at + 1) - 17} ${y(row)} h 34`));
        });
      });
      inside.replaceChildren(...parts);
      const named = (beam) => `${beam.words.join(" ")}, ${shown(beam.logProb, 3)}`;
      const last = steps[step - 1];
      svg.setAttribute("aria-label", `The tree after step ${step}. Kept, with their sums of log-probabilities: ${last.slice(0, width).map(named).join("; ")}. ` +
        (last.length > width ? `Pruned at this step: ${last.slice(width).map(named).join("; ")}.` : "Nothing is pruned at this step."));
    }

    function show(chosen) {
      const width = +chosen.width, { penalty } = chosen, steps = search(tree, width), step = Math.min(chosen.step, steps.length);
      const competing = steps[step - 1], kept = competing.slice(0, width), ended = step === steps.length;
      draw(steps, width, step);

      const hypothesis = (beam) => make("span", {}, beam.words.join(" "));
      const ranked = [...kept].sort((one, other) => score(other, penalty) - score(one, penalty));
      tables.replaceChildren(
        table(`Step ${step}: what competes`, ["log p", "p", "kept?"], competing.map((beam, row) => [hypothesis(beam), [shown(beam.logProb, 3), shown(Math.exp(beam.logProb), 3), row < width ? "kept" : "pruned"].map((cell) => make("td", {}, cell)), row < width ? "result" : ""])),
        table(`Step ${step}: the score of what is kept`, ["ids", "score"], ranked.map((beam, row) => [hypothesis(beam), [make("td", {}, String(beam.words.length)), make("td", {}, shown(score(beam, penalty), 3))], row ? "" : "result"])));

      const best = ranked[0], said = best.words.filter((word) => word !== EOS).join(" ");
      summary.textContent = (ended
        ? `The search ended with step ${steps.length}${kept.every(finished) ? ", because every kept hypothesis is finished" : ", the last one"}. With a length penalty of ${shown(penalty, 2)}, the best translation of “${tree.source}” is “${said}”, with a score of ${shown(score(best, penalty), 3)}. `
        : `After step ${step}, ${kept.length === 1 ? "one hypothesis is" : `${kept.length} hypotheses are`} kept of ${competing.length}. The best score so far is that of “${said}”, ${shown(score(best, penalty), 3)}. `)
        + (chosen.step > step ? `There is no step ${chosen.step}.` : "");
    }

    root.querySelector(".explorable-instead").hidden = true;
    root.append(make("div", { class: "settings" }, make("div", { class: "choices" }, fieldsets), rows.step, rows.penalty), make("div", { class: "pictures" }, picture), summary, tables,
      make("div", { class: "foot" }, make("p", { class: "keys" }, "Hypotheses are pruned by log p, the sum over their words. The length penalty is used for the score alone."), reset));
    restore();
  }

  document.querySelectorAll(`.explorable[data-explorable="${NAME}"]`).forEach(start);
})();
