// The tape of a network of one unit, run backward one operation at a time: accumulators fill, and the order matters.
(function () {
  "use strict";

  const { make, shown, symbol, table } = window.explorableParts;
  const NAME = "tape";
  const WEIGHTS = ["w_xh", "w_hh", "b_h"];
  const STEPS = [1, 2, 3];
  const LAST = STEPS.at(-1);
  const BELOW = "₀₁₂₃";

  // The tape -----------------------------------------------------------------------------------------------------

  // The operations in the order in which they ran: "step 1", "loss 1", "step 2", …
  const TAPE = STEPS.flatMap((t) => [`step ${t}`, `loss ${t}`]);
  const timeOf = (operation) => +operation.at(-1);
  const isStep = (operation) => operation.startsWith("step");

  // What the forward pass stored; index 0 is the initial state.
  function forward({ x, y, h_0, w_xh, w_hh, b_h }) {
    const h = [h_0];
    for (const t of STEPS) h.push(Math.tanh(w_xh * x[t - 1] + w_hh * h[t - 1] + b_h));
    return { x: [null, ...x], y: [null, ...y], h, slope: h.map((state) => 1 - state * state) };
  }

  // The operations that add to the accumulator of h_t: they must run before step t.
  function sources(t) {
    return t === LAST ? [`loss ${t}`] : [`loss ${t}`, `step ${t + 1}`];
  }

  // All accumulators after these operations, in the order in which they ran.
  // out, next: the two contributions to dh; null until the contribution has been added.
  function accumulate(done, network, { x, y, h, slope }) {
    const out = h.map(() => null), next = h.map(() => null), da = h.map(() => null);
    const terms = Object.fromEntries(WEIGHTS.map((name) => [name, h.map(() => null)]));
    for (const operation of done) {
      const t = timeOf(operation);
      if (!isStep(operation)) {
        out[t] = h[t] - y[t];
        continue;
      }
      da[t] = (out[t] + next[t]) * slope[t];
      terms.w_xh[t] = da[t] * x[t];
      terms.w_hh[t] = da[t] * h[t - 1];
      terms.b_h[t] = da[t];
      next[t - 1] = da[t] * network.w_hh;
    }
    const sum = (parts) => parts.reduce((total, part) => total + (part ?? 0), 0);
    return { out, next, dh: h.map((_, t) => out[t] + next[t]), da, ...terms, sums: WEIGHTS.map((name) => sum(terms[name])) };
  }

  // The explorable -----------------------------------------------------------------------------------------------

  function start(root) {
    const network = JSON.parse(root.querySelector(".explorable-data").textContent);
    const fixed = forward(network);
    const done = []; // in the order in which the reader ran them
    const numbers = new Map(); // data-number → elements

    // An element that shows a number: `key` says which, for updates and for the tests.
    function number(tag, key, digits, attributes) {
      const made = make(tag, { ...attributes, "data-number": key, "data-digits": digits });
      numbers.set(key, [...(numbers.get(key) || []), made]);
      return made;
    }

    // Tables ------------------------------------------------------------------------------------------------------

    const nothing = () => make("td");
    const cells = (key, times, digits = 3) => times.map((t) => number("td", `${key}.${t}`, digits));
    const steps = STEPS.map((t) => `step ${t}`);
    const left = table("What the forward pass stored", steps, [
      [symbol("x_t"), cells("x", STEPS, 1)],
      [symbol("h_t"), cells("h", STEPS)],
      [["1 − ", ...symbol("h_t"), "²"], cells("slope", STEPS)],
      [["target ", ...symbol("y_t")], cells("y", STEPS, 1)],
    ]);
    const states = table("The accumulators of the states, dh", [0, ...STEPS].map((t) => symbol(`h_${t}`)), [
      ["from its loss", [nothing(), ...cells("out", STEPS)]],
      ["from the next step", [...cells("next", [0, 1, 2]), nothing()]],
      ["total", cells("dh", [0, ...STEPS]), "total result"],
    ]);
    const weights = table("The accumulators of the weights", [...steps, "sum"], WEIGHTS.map((name, at) => [
      symbol(name), [...cells(name, STEPS), number("td", `sums.${at}`, 3, { class: "sum" })],
    ]));
    weights.classList.add("weights");

    // The picture ---------------------------------------------------------------------------------------------------

    const MIDDLE = [38, 126, 214, 302], ROW = 122, WIDE = 60, TALL = 42;
    const edges = []; // [element, operation]
    function edge(operation, path, kind) {
      const made = make("path", { d: path, class: `edge ${kind}` });
      edges.push([made, operation]);
      return made;
    }
    const right = (x, y) => `M ${x} ${y} l -6 -3.5 v 7 z`;
    const leftward = (x, y) => `M ${x} ${y} l 6 -3.5 v 7 z`;
    function label(x, y, base, below) {
      return make("text", { x, y, class: "symbol" }, base, make("tspan", { dy: 4, class: "below" }, below));
    }
    function node(t) {
      const x = MIDDLE[t];
      return [
        make("rect", { x: x - WIDE / 2, y: ROW - TALL / 2, width: WIDE, height: TALL / 2, class: "state" }),
        make("rect", { x: x - WIDE / 2, y: ROW, width: WIDE, height: TALL / 2, class: "sum-box", "data-accumulator": t }),
        label(x - 17, ROW - TALL / 2 - 7, "h", t),
        number("text", `h.${t}`, 3, { x, y: ROW - 6 }),
        number("text", `dh.${t}`, 3, { x, y: ROW + 15 }),
      ];
    }
    const chain = STEPS.flatMap((t) => {
      const from = MIDDLE[t - 1] + WIDE / 2, to = MIDDLE[t] - WIDE / 2;
      return [
        make("path", { d: `M ${from} ${ROW - 10} H ${to - 6}`, class: "line" }),
        make("path", { d: right(to - 1, ROW - 10), class: "head" }),
        edge(`step ${t}`, `M ${to} ${ROW + 10} H ${from + 7}`, "back"),
        edge(`step ${t}`, leftward(from + 2, ROW + 10), "tip"),
      ];
    });
    const losses = STEPS.flatMap((t) => {
      const x = MIDDLE[t];
      return [
        make("rect", { x: x - 22, y: 14, width: 44, height: 26, class: "op" }),
        make("text", { x, y: 31 }, `loss ${t}`),
        make("path", { d: `M ${x + 2} ${ROW - TALL / 2} V 48`, class: "line" }),
        make("path", { d: `M ${x + 2} 42 l -3.5 6 h 7 z`, class: "head" }),
        edge(`loss ${t}`, `M ${x + 18} 40 V ${ROW - TALL / 2 - 8}`, "back"),
        edge(`loss ${t}`, `M ${x + 18} ${ROW - TALL / 2 - 2} l -3.5 -6 h 7 z`, "tip"),
      ];
    });
    const BOX = STEPS.map((t) => (MIDDLE[t - 1] + MIDDLE[t]) / 2);
    const fan = STEPS.flatMap((t) => BOX.map((x) => edge(`step ${t}`, `M ${BOX[t - 1]} ${ROW + 14} L ${x} 196`, "part")));
    const parts = []; // [element, operation]
    const accumulators = WEIGHTS.flatMap((name, at) => {
      const x = BOX[at], [base, below] = name.split("_");
      return [
        make("rect", { x: x - 34, y: 196, width: 68, height: 54, class: "sum-box" }),
        label(x - 4, 212, `d${base}`, below),
        number("text", `sums.${at}`, 3, { x, y: 231 }),
        STEPS.map((t) => {
          const pip = make("rect", { x: x - 29 + (t - 1) * 20, y: 238, width: 18, height: 7, class: "pip" });
          parts.push([pip, `step ${t}`]);
          return pip;
        }),
      ].flat();
    });
    const picture = make("svg", { viewBox: "0 0 340 256", role: "img" },
      chain, losses, fan, [0, ...STEPS].flatMap(node), accumulators);

    // Controls ------------------------------------------------------------------------------------------------------

    const button = (label, kind = "") => make("button", { type: "button", class: `u-button ${kind}` }, label);
    const operations = TAPE.map((operation) => button(operation, "operation"));
    const next = button("Next"), undo = button("Undo"), again = button("Start again");
    const summary = make("p", { class: "summary", role: "status" });
    const keys = make("p", { class: "keys" }, "Next runs the last operation that is left, and so does the key ← while a button has the focus; → undoes it. Numbers are rounded to three decimals.");
    const tape = make("div", { class: "operations", role: "group", "aria-label": "The tape, in the order in which it was recorded" }, operations);
    const controls = make("div", { class: "controls" }, tape, make("div", { class: "buttons" }, next, undo, again));

    // Showing -------------------------------------------------------------------------------------------------------

    const state = (t) => `h${BELOW[t]}`;
    const waitsFor = (operation) => (isStep(operation) ? sources(timeOf(operation)).filter((source) => !done.includes(source)) : []);
    const isFinal = (t) => (t === 0 ? done.includes("step 1") : sources(t).every((source) => done.includes(source)));

    // What the latest operation did.
    function told(now) {
      if (!done.length) return "The forward pass is done, and every accumulator holds 0. Which operation should run backward first? Choose one on the tape.";
      const operation = done.at(-1), t = timeOf(operation);
      if (!isStep(operation)) {
        const difference = `${state(t)} − y${BELOW[t]} = ${shown(now.out[t], 3)}`;
        const rest = isFinal(t) ? "Nothing else adds to it: it is final." : `Step ${t + 1} still has to add to it.`;
        return `Loss ${t} adds ${difference} to the accumulator of ${state(t)}, which now holds ${shown(now.dh[t], 3)}. ${rest}`;
      }
      const added = WEIGHTS.map((name) => `${shown(now[name][t], 3)} to d${name}`).join(", ");
      const waiting = t > 1 && !isFinal(t - 1) ? `, whose accumulator still waits for loss ${t - 1}` : "";
      const said =
        `Step ${t} uses the total gradient of ${state(t)}: ${shown(now.dh[t], 3)}, times the derivative of the tanh, ${shown(fixed.slope[t], 3)}, gives da${BELOW[t]} = ${shown(now.da[t], 3)}. ` +
        `It adds ${added}, and passes ${shown(now.next[t - 1], 3)} back to ${state(t - 1)}${waiting}.`;
      if (done.length < TAPE.length) return said;
      const same = done.join() === [...TAPE].reverse().join();
      return `${said} All six operations are done, and every accumulator is final. ` +
        (same ? "You went backward along the tape." : "Your order is not the reversed tape, but the gradients are the same.");
    }

    function show(news) {
      const now = { ...fixed, ...accumulate(done, network, fixed) };
      for (const [key, places] of numbers) {
        const [what, index] = key.split(".");
        const value = now[what][index];
        for (const element of places) element.textContent = value === null ? "·" : shown(value, +element.dataset.digits);
      }
      for (const [element, operation] of [...edges, ...parts]) {
        element.classList.toggle("done", done.includes(operation));
        element.classList.toggle("now", operation === done.at(-1));
      }
      for (const box of picture.querySelectorAll("[data-accumulator]")) box.classList.toggle("final", isFinal(+box.dataset.accumulator));
      operations.forEach((made, at) => {
        const ran = done.includes(TAPE[at]);
        made.textContent = ran ? `✓ ${TAPE[at]}` : TAPE[at];
        made.setAttribute("aria-pressed", ran);
      });
      next.setAttribute("aria-disabled", done.length === TAPE.length);
      undo.setAttribute("aria-disabled", !done.length);
      const said = news ?? told(now);
      summary.textContent = said;
      picture.setAttribute("aria-label", `Three steps and their losses, with the numbers from the tables. ${said}`);
    }

    function run(operation) {
      const missing = waitsFor(operation), t = timeOf(operation);
      if (done.includes(operation)) {
        show(`${operation} has already run. If it ran again, its contribution would be counted twice.`.replace(/^./, (letter) => letter.toUpperCase()));
      } else if (missing.length) {
        const waiting = missing.join(" and ");
        show(`Not yet: step ${t} uses the accumulator of ${state(t)}, and ${waiting} still ${missing.length > 1 ? "have" : "has"} to add to it. ${missing.length > 1 ? "Their contributions" : "Its contribution"} would be lost.`);
      } else {
        done.push(operation);
        show();
      }
    }

    function runLast() {
      const operation = TAPE.findLast((each) => !done.includes(each));
      if (operation) run(operation);
    }

    function undoLast() {
      if (!done.length) return;
      const operation = done.pop();
      show(`${operation} is undone. ${done.length ? `${done.length} of ${TAPE.length} operations are done.` : "No operation is done."}`.replace(/^./, (letter) => letter.toUpperCase()));
    }

    operations.forEach((made, at) => made.addEventListener("click", () => run(TAPE[at])));
    next.addEventListener("click", runLast);
    undo.addEventListener("click", undoLast);
    again.addEventListener("click", () => {
      done.length = 0;
      show();
    });
    root.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: runLast, ArrowRight: undoLast }[event.key];
      if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      move();
    });

    root.querySelector(".explorable-instead").hidden = true;
    root.append(controls, picture, summary, make("div", { class: "tables" }, make("div", {}, states, left), make("div", {}, weights, keys)));
    show();
  }

  document.querySelectorAll(`.explorable[data-explorable="${NAME}"]`).forEach(start);
})();
