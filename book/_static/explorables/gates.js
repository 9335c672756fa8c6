// One LSTM unit beside one GRU unit: both read the same numbers, and the reader sets their gates.
// The page's address holds the settings: #step=20&f=0.95&i=0.1&o=0.8&z=0.9&r=1&after=silence
(function () {
  "use strict";

  const { along, box, drawing, line, make, panel, settings, shown, symbol, table, text } = window.explorableParts;
  const NAME = "gates";
  const STEPS = 40;
  // name: [label, smallest, largest, step, digits, at first]
  const SLIDERS = {
    f: ["Forget gate f", 0, 1, 0.01, 2, 0.95],
    i: ["Input gate i", 0, 1, 0.01, 2, 0.1],
    o: ["Output gate o", 0, 1, 0.01, 2, 0.8],
    z: ["Update gate z", 0, 1, 0.01, 2, 0.9],
    r: ["Reset gate r", 0, 1, 0.01, 2, 1],
    step: ["Step t", 1, STEPS, 1, 0, 20],
  };
  // name: [label, values, at first]
  const CHOICES = { after: ["After the pulse", ["noise", "silence"], "noise"] };
  const NAMES = ["step", "f", "i", "o", "z", "r", "after"]; // as in the address

  // The units ----------------------------------------------------------------------------------------------------

  // Index 0 of every list is the initial state; gates[t] are those used at step t.
  function run({ w, u, pulse, x }, { f, i, o, z, r, after }) {
    const inputs = x[after];
    const lstm = { i: [0], g: [0], c: [0], h: [0] }, gru = { z: [0], n: [0], h: [0] };
    inputs.forEach((x_t, at) => {
      const writes = at === pulse;
      const g = Math.tanh(w * x_t + u * lstm.h.at(-1)), open = writes ? 1 : i, c = f * lstm.c.at(-1) + open * g;
      lstm.i.push(open);
      lstm.g.push(g);
      lstm.c.push(c);
      lstm.h.push(o * Math.tanh(c));
      const last = gru.h.at(-1), n = Math.tanh(w * x_t + r * u * last), keeps = writes ? 0 : z;
      gru.z.push(keeps);
      gru.n.push(n);
      gru.h.push((1 - keeps) * n + keeps * last);
    });
    return { inputs, lstm, gru };
  }

  // The explorable -----------------------------------------------------------------------------------------------

  function start(root) {
    const numbers = JSON.parse(root.querySelector(".explorable-data").textContent);
    const { rows, fieldsets, reset, change, restore } = settings(NAME, NAMES, SLIDERS, CHOICES, show);
    const gates = (title, names) => make("div", { class: "gates", role: "group", "aria-label": `Gates of the ${title}` }, make("p", { class: "title" }, title), names.map((name) => rows[name]));
    const controls = make("div", { class: "settings" }, make("div", { class: "choices" }, fieldsets), make("div", { class: "both" }, gates("LSTM", ["f", "i", "o"]), gates("GRU", ["z", "r"])));

    // Pictures ------------------------------------------------------------------------------------------------------

    const LEFT = 34, RIGHT = 332, TOP = 16, BOTTOM = 156, FOOT = 200;
    const atStep = (t) => LEFT + ((RIGHT - LEFT) * t) / STEPS;
    const inputY = (x_t) => (FOOT + BOTTOM) / 2 + 4 - 9 * x_t;

    function picture(...kinds) {
      const axis = make("g"), bars = make("g"), mark = line("mark"), stepText = text(0, 12, "told");
      const curves = kinds.map((kind) => line(kind)), dots = kinds.map((kind) => make("circle", { r: 4.5, class: `here ${kind}` }));
      const svg = drawing(340, 222, box(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP), axis, bars, mark, curves, dots, stepText,
        text(LEFT + 3, inputY(1) - 4, "start side", "input x"), [1, 10, 20, 30, 40].map((t) => text(atStep(t), FOOT + 15, "tick", t)));
      svg.addEventListener("pointerdown", (event) => {
        svg.setPointerCapture(event.pointerId);
        point(event, svg);
      });
      svg.addEventListener("pointermove", (event) => event.buttons && point(event, svg));
      return { svg, axis, bars, mark, stepText, curves, dots };
    }

    function point(event, svg) {
      const { left, width } = svg.getBoundingClientRect();
      const t = Math.round(((((event.clientX - left) / width) * 340 - LEFT) / (RIGHT - LEFT)) * STEPS);
      change({ step: Math.min(STEPS, Math.max(1, t)) });
    }

    const left = picture("cell", "hidden"), right = picture("hidden");
    const pictures = make("div", { class: "pictures" },
      panel("LSTM: two states", ["Solid: the cell state ", make("var", {}, "c"), ". Dashed: the hidden state ", make("var", {}, "h"), "."], left.svg),
      panel("GRU: one state", ["Dashed: the hidden state ", make("var", {}, "h"), ", which is all there is."], right.svg));
    const tables = make("div", { class: "tables" }), summary = make("p", { class: "summary", role: "status" });
    const steps = make("div", { class: "steps" }, rows.step);

    // Showing -------------------------------------------------------------------------------------------------------

    function draw({ svg, axis, bars, mark, stepText, curves, dots }, lines, inputs, step, label) {
      const reach = Math.max(...lines.flat().map(Math.abs)), limit = [1, 2, 5, 10, 20, 50].find((edge) => edge >= reach);
      const y = (value) => (TOP + BOTTOM) / 2 - ((BOTTOM - TOP) / 2) * (value / limit);
      axis.replaceChildren(line("axis", `M ${LEFT} ${y(0)} H ${RIGHT}`),
        ...[-limit, 0, limit].map((value) => text(LEFT - 5, Math.min(BOTTOM, Math.max(TOP + 8, y(value) + 4)), "tick end", shown(value, 0))));
      bars.replaceChildren(line("axis", `M ${LEFT} ${inputY(0)} H ${RIGHT}`),
        ...inputs.map((x_t, at) => line("bar", `M ${atStep(at + 1).toFixed(2)} ${inputY(0)} V ${inputY(x_t).toFixed(2)}`)));
      lines.forEach((values, at) => {
        curves[at].setAttribute("d", along(values.map((value, t) => [atStep(t), y(value)])));
        dots[at].setAttribute("cx", atStep(step).toFixed(2));
        dots[at].setAttribute("cy", y(values[step]).toFixed(2));
      });
      mark.setAttribute("d", `M ${atStep(step)} ${TOP} V ${FOOT}`);
      stepText.setAttribute("x", Math.min(Math.max(atStep(step), LEFT + 24), RIGHT - 24));
      stepText.textContent = `step ${step}`;
      svg.setAttribute("aria-label", label);
    }

    function show(chosen) {
      const { inputs, lstm, gru } = run(numbers, chosen), { step, f, o, z } = chosen;
      const at = (values) => [10, 20, 30, 40].map((t) => `${shown(values[t], 2)} at step ${t}`).join(", ");
      draw(left, [lstm.c, lstm.h], inputs, step, `The states of the LSTM unit over ${STEPS} steps. Cell state: ${at(lstm.c)}. Hidden state: ${at(lstm.h)}.`);
      draw(right, [gru.h], inputs, step, `The hidden state of the GRU unit over ${STEPS} steps: ${at(gru.h)}.`);

      const row = (name, value, how, kind) => [make("span", {}, name), [make("td", {}, how), make("td", {}, shown(value, 3))], kind];
      const named = (name, index) => make("span", {}, ...symbol(`${name}_${index}`));
      const num = (value) => (value < 0 ? `(${shown(value, 3)})` : shown(value, 3)), gate = (value) => shown(value, 2);
      const x = inputs[step - 1], before = step - 1;
      const inside = (h, factor) => `tanh(${shown(numbers.w, 1)} · ${x < 0 ? `(${gate(x)})` : gate(x)} + ${factor}${shown(numbers.u, 1)} · ${num(h)})`;
      tables.replaceChildren(
        table(`LSTM, step ${step}`, ["how", "value"], [
          row(named("g", step), lstm.g[step], inside(lstm.h[before], "")),
          row(named("c", step), lstm.c[step], `${gate(f)} · ${num(lstm.c[before])} + ${gate(lstm.i[step])} · ${num(lstm.g[step])}`, "result"),
          row(named("h", step), lstm.h[step], `${gate(o)} · tanh(${shown(lstm.c[step], 3)})`, "result"),
        ]),
        table(`GRU, step ${step}`, ["how", "value"], [
          row(named("n", step), gru.n[step], inside(gru.h[before], `${gate(chosen.r)} · `)),
          row(named("h", step), gru.h[step], `${gate(1 - gru.z[step])} · ${num(gru.n[step])} + ${gate(gru.z[step])} · ${num(gru.h[before])}`, "result"),
        ]));

      const pulse = numbers.pulse + 1, later = step - pulse;
      const states = `At step ${step}, the cell state of the LSTM is ${shown(lstm.c[step], 2)} and its hidden state ${shown(lstm.h[step], 2)}; the state of the GRU is ${shown(gru.h[step], 2)}. `;
      const times = (count) => (count === 1 ? "1 step" : `${count} steps`);
      summary.textContent = states + (later > 0
        ? `Of what the pulse wrote ${times(later)} ago, the share ${shown(f ** later, 3)} is left in the cell by the forget gate alone, and ${shown(z ** later, 3)} in the GRU by its update gate alone.`
        : later ? `The pulse comes at step ${pulse}.` : `This is the pulse: here both units write, with i = 1 and z = 0.`);
    }

    root.querySelector(".explorable-instead").hidden = true;
    root.append(controls, pictures, steps, summary, tables, make("div", { class: "foot" }, make("p", { class: "keys" }, `At step ${numbers.pulse + 1}, the pulse, both units write: i = 1 and z = 0. At all other steps, the gates have the values that you set.`), reset));
    restore();
  }

  document.querySelectorAll(`.explorable[data-explorable="${NAME}"]`).forEach(start);
})();
