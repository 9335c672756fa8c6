// Attention over an English sentence: the reader chooses a French word, the score function, a factor and the mask.
// The page's address holds the settings: #word=2&score=dot&scale=1&mask=before
(function () {
  "use strict";

  const { drawing, line, make, panel, settings, shown, table, text } = window.explorableParts;
  const NAME = "attention";
  const NAMES = ["word", "score", "scale", "mask"]; // as in the address

  // Scores, weights ----------------------------------------------------------------------------------------------

  const dot = (a, b) => a.reduce((sum, each, at) => sum + each * b[at], 0);
  const times = (row, matrix) => matrix[0].map((_, column) => dot(row, matrix.map((each) => each[column])));

  const SCORES = {
    dot: (q, k) => dot(q, k),
    bilinear: (q, k, { W }) => dot(times(q, W), k),
    additive(q, k, { W_q, W_k, v }) {
      const from = times(k, W_k);
      return dot(times(q, W_q).map((each, at) => Math.tanh(each + from[at])), v);
    },
  };

  function softmax(scores) {
    const largest = Math.max(...scores), powers = scores.map((score) => Math.exp(score - largest));
    const sum = powers.reduce((one, other) => one + other);
    return powers.map((power) => power / sum);
  }

  // The explorable -----------------------------------------------------------------------------------------------

  function start(root) {
    const { source, target, alignment, pads, networks } = JSON.parse(root.querySelector(".explorable-data").textContent);
    const english = [...source, ...Array(pads).fill("⟨pad⟩")];
    const SLIDERS = { word: ["", 1, target.length, 1, 0, 2], scale: ["Scores times", 0, 3, 0.25, 2, 1] };
    const CHOICES = { score: ["Score", Object.keys(SCORES), "dot"], mask: ["Mask", ["before", "after", "none"], "before"] };
    const { rows, fieldsets, reset, change, restore } = settings(NAME, NAMES, SLIDERS, CHOICES, show);

    // For French word t: the score of each English position, and its weight.
    function attention(t, { score, scale, mask }) {
      const { queries, keys, ...weights } = networks[score];
      const all = [...keys, ...Array(pads).fill(keys[0].map(() => 0))];
      const scores = all.map((key) => scale * SCORES[score](queries[t], key, weights));
      const real = softmax(mask === "before" ? scores.slice(0, source.length) : scores);
      return { scores, weights: english.map((_, j) => (mask !== "none" && j >= source.length ? 0 : real[j])) };
    }

    const TOP = 40, ROW = 27, FROM = 84, TO = 164, BARS = 228, LONGEST = 76;
    const y = (row) => TOP + ROW * row;
    const lines = make("g"), bars = make("g");
    const words = target.map((word, t) => {
      const radio = make("g", { class: "chosen", role: "radio", "aria-label": word }, make("rect", { x: 2, y: y(t) - 13, width: FROM - 4, height: ROW - 1, rx: 5 }), text(FROM - 8, y(t) + 4, "end", word));
      const choose = () => change({ word: t + 1 });
      radio.addEventListener("click", choose);
      radio.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && choose());
      radio.addEventListener("keydown", (event) => {
        const to = { ArrowDown: t + 1, ArrowRight: t + 1, ArrowUp: t - 1, ArrowLeft: t - 1, Home: 0, End: target.length - 1, " ": t }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        change({ word: Math.min(Math.max(to, 0), target.length - 1) + 1 });
        words[Math.min(Math.max(to, 0), target.length - 1)].focus();
      });
      return radio;
    });
    const svg = drawing(340, y(english.length) - 8, text(FROM - 8, 14, "told end", "writes"), text(TO + 6, 14, "told start", "looks at"), text(BARS, 14, "told start", "weight"),
      lines, make("g", { role: "radiogroup", "aria-label": "French word" }, words), english.map((word, j) => text(TO + 6, y(j) + 4, `start${j < source.length ? "" : " side"}`, word)), bars);
    svg.setAttribute("role", "group");
    const summary = make("p", { class: "summary", role: "status" }), tables = make("div", { class: "tables" });
    const picture = panel("Where the decoder looks", ["Choose a French word, also with the arrow keys. Pale lines belong to the other words."], svg);

    function draw(all, t) {
      const edge = (from, j, weight) => make("path", { d: `M ${FROM} ${y(from)} C ${FROM + 40} ${y(from)} ${TO - 40} ${y(j)} ${TO} ${y(j)}`, class: `edge${from === t ? "" : " silent"}`, "stroke-width": (1 + 6 * weight).toFixed(2) });
      lines.replaceChildren(...all.flatMap(({ weights }, from) => weights.map((weight, j) => (weight >= (from === t ? 0.005 : 0.1) ? edge(from, j, weight) : "")).filter(Boolean)));
      bars.replaceChildren(...all[t].weights.flatMap((weight, j) => [
        make("rect", { x: BARS, y: y(j) - 7, width: (LONGEST * weight).toFixed(2), height: 14, class: "bar" }), text(BARS + LONGEST * weight + 5, y(j) + 4, "start", shown(weight, 2))]));
      words.forEach((word, at) => {
        word.setAttribute("aria-checked", at === t);
        word.setAttribute("tabindex", at === t ? 0 : -1);
      });
      svg.setAttribute("aria-label", `Weights for ${target[t]}: ${english.map((word, j) => `${word} ${shown(all[t].weights[j], 2)}`).join(", ")}.`);
    }

    function show(chosen) {
      const t = chosen.word - 1, all = target.map((_, at) => attention(at, chosen)), { scores, weights } = all[t];
      draw(all, t);
      const sum = weights.reduce((one, other) => one + other), largest = weights.indexOf(Math.max(...weights)), wanted = alignment[t];
      const cells = (...values) => values.map((value) => make("td", {}, value));
      tables.replaceChildren(table(`For ${target[t]}`, ["score e", "weight α"], [
        ...english.map((word, j) => [word, cells(chosen.mask === "before" && j >= source.length ? "masked" : shown(scores[j], 2), shown(weights[j], 3)), j === largest && chosen.scale ? "result" : ""]),
        ["sum", cells("", shown(sum, 3)), "total"]]));
      const padding = weights.slice(source.length).reduce((one, other) => one + other, 0);
      summary.textContent = (chosen.scale === 0
        ? `All scores are 0, so all positions get the same weight. `
        : `When the decoder is about to write “${target[t]}”, “${english[largest]}” has the largest weight, ${shown(weights[largest], 3)}. ` + (largest === wanted ? "" : `The French word translates “${english[wanted]}”, which gets ${shown(weights[wanted], 3)}. `))
        + { before: "The padding gets no weight.", after: `The padding is set to 0 after the softmax, so the weights sum to ${shown(sum, 3)}.`, none: `The padding gets ${shown(padding, 3)}.` }[chosen.mask];
    }

    root.querySelector(".explorable-instead").hidden = true;
    root.append(make("div", { class: "settings" }, make("div", { class: "choices" }, fieldsets), rows.scale), make("div", { class: "both" }, picture, tables), summary,
      make("div", { class: "foot" }, make("p", { class: "keys" }, `The factor 0.25 is 1/√H, because H = ${networks.dot.keys[0].length}. Each score function belongs to a network of its own.`), reset));
    restore();
  }

  document.querySelectorAll(`.explorable[data-explorable="${NAME}"]`).forEach(start);
})();
