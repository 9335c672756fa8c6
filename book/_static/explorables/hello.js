// The network that spells `hello`, one step at a time: every number is shown, every weight can be edited.
// The page's address holds the step and the changed weights: #hello=2&W_hh.0.1=0.5
(function () {
  "use strict";

  const { make, shown, symbol, table } = window.explorableParts;
  const NAME = "hello";
  const LIMIT = 99; // larger weights are rejected
  const UNITS = [0, 1, 2];
  const NUMBER = /^-?\d{1,2}(\.\d{1,4})?$/;

  // The network --------------------------------------------------------------------------------------------------

  function product(row, matrix) {
    return matrix[0].map((_, column) => row.reduce((sum, value, at) => sum + value * matrix[at][column], 0));
  }

  function added(...rows) {
    return rows[0].map((_, at) => rows.reduce((sum, row) => sum + row[at], 0));
  }

  function softmax(logits) {
    const largest = Math.max(...logits);
    const powers = logits.map((value) => Math.exp(value - largest));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  }

  // All steps of reading `letters`, starting from a zero state.
  function run(letters, vocabulary, W) {
    let previous = UNITS.map(() => 0);
    return letters.map((letter) => {
      const x = vocabulary.map((entry) => (entry === letter ? 1 : 0));
      const fromInput = product(x, W.W_xh);
      const fromState = product(previous, W.W_hh);
      const preActivation = added(fromInput, fromState, W.b_h);
      const state = preActivation.map(Math.tanh);
      const fromHidden = product(state, W.W_hy);
      const logits = added(fromHidden, W.b_y);
      const step = { letter, x, previous, fromInput, fromState, preActivation, state, fromHidden, logits, probabilities: softmax(logits) };
      previous = state;
      return step;
    });
  }

  // The address --------------------------------------------------------------------------------------------------

  // {step, changes: [[name, indices, value]]}, or null if the hash belongs to something else or is malformed.
  function parse(hash, steps, weights) {
    const [first, ...rest] = hash.replace(/^#/, "").split("&");
    const position = new RegExp(`^${NAME}=(\\d{1,2})$`).exec(first);
    if (!position || +position[1] < 1 || +position[1] > steps) return null;
    const changes = [];
    for (const part of rest) {
      const [path, text, ...more] = part.split("=");
      const [name, ...indices] = path.split(".");
      if (more.length || !NUMBER.test(text) || !indices.every((index) => /^\d$/.test(index))) return null;
      if (!Object.hasOwn(weights, name) || typeof at(weights[name], indices) !== "number") return null;
      changes.push([name, indices, Number(text)]);
    }
    return { step: +position[1], changes };
  }

  function at(values, indices) {
    return indices.reduce((part, index) => (Array.isArray(part) ? part[index] : undefined), values);
  }

  // The explorable -----------------------------------------------------------------------------------------------

  function start(root) {
    const { vocabulary, text, weights } = JSON.parse(root.querySelector(".explorable-data").textContent);
    const letters = [...text].slice(0, -1);
    let W = structuredClone(weights);
    let step = 1;
    const inputs = []; // [input, name, indices]
    const numbers = new Map(); // data-number → elements

    // An element that shows a number. `key` says which one, for updates and for the tests.
    function number(tag, key, digits, attributes) {
      const made = make(tag, { ...attributes, "data-number": key, "data-digits": digits });
      numbers.set(key, [...(numbers.get(key) || []), made]);
      return made;
    }

    function field(name, indices, label) {
      const value = at(weights[name], indices);
      const input = make("input", {
        type: "number", step: "0.1", min: -LIMIT, max: LIMIT, "aria-label": label, autocomplete: "off", "data-weight": [name, ...indices].join("."),
      });
      input.value = value.toFixed(2);
      inputs.push([input, name, indices]);
      return make("td", {}, input);
    }

    // Tables ------------------------------------------------------------------------------------------------------

    const units = UNITS.map((unit) => `unit ${unit}`);
    const cells = (key, count) => [...Array(count).keys()].map((index) => number("td", `${key}.${index}`, 3));
    const V = vocabulary.length;
    const H = UNITS.length;
    const rowsOf = (name, from, to) => from.map((row, i) => [row, to.map((column, j) => field(name, [i, j], `${name}, from ${row} to ${column}`)), `from-${i}`]);

    const input = table(["The input ", ...symbol("x_t")], vocabulary, [
      [symbol("x_t"), vocabulary.map((_, index) => number("td", `x.${index}`, 0)), ""],
    ]);
    const state = table(["The new state ", ...symbol("h_t"), " = tanh(", ...symbol("a_t"), ")"], units, [
      [symbol("h_t−1"), cells("previous", H)],
      [[...symbol("x_t"), " ", ...symbol("W_xh")], cells("fromInput", H)],
      [[...symbol("h_t−1"), " ", ...symbol("W_hh")], cells("fromState", H)],
      [symbol("b_h"), UNITS.map((unit) => field("b_h", [unit], `b_h, unit ${unit}`))],
      [symbol("a_t"), cells("preActivation", H), "total"],
      [symbol("h_t"), cells("state", H), "result"],
    ]);
    const guess = table("The next letter", vocabulary, [
      [[...symbol("h_t"), " ", ...symbol("W_hy")], cells("fromHidden", V)],
      [symbol("b_y"), vocabulary.map((letter, index) => field("b_y", [index], `b_y, ${letter}`))],
      ["logit", cells("logits", V), "total"],
      ["probability", cells("probabilities", V), "result"],
    ]);
    const W_xh = table([...symbol("W_xh"), ", from letter to unit"], units, rowsOf("W_xh", vocabulary, units));
    W_xh.classList.add("by-letter");
    const W_hh = table([...symbol("W_hh"), ", from unit to unit"], units, rowsOf("W_hh", units, units));
    const W_hy = table([...symbol("W_hy"), ", from unit to letter"], vocabulary, rowsOf("W_hy", units, vocabulary));

    // The picture ---------------------------------------------------------------------------------------------------

    const TOP = 42, PITCH = 34, HALF = 23;
    const LEFT = 52, MIDDLE = 172, RIGHT = 278;
    const column = (x, y, count) => [...Array(count).keys()].map((index) => [x, y + index * PITCH]);
    const positions = {
      previous: column(LEFT, TOP, H),
      x: column(LEFT, TOP + H * PITCH + 24, V),
      state: column(MIDDLE, TOP + 74, H),
      logits: column(RIGHT, TOP + 57, V),
    };
    const edges = [];
    function bundle(name, from, to) {
      return positions[from].flatMap((start, i) =>
        positions[to].map((end, j) => {
          const line = make("line", { x1: start[0] + HALF, y1: start[1], x2: end[0] - HALF, y2: end[1], class: "edge" });
          edges.push([line, name, [i, j], from]);
          return line;
        }),
      );
    }
    function values(key, kind, digits) {
      return positions[key].flatMap(([x, y], index) => [
        make("rect", { x: x - HALF, y: y - 13, width: 2 * HALF, height: 26, rx: 13, class: kind }),
        number("text", `${key}.${index}`, digits, { x, y: y + 4 }),
      ]);
    }
    function label(x, y, base, below, kind = "symbol") {
      return make("text", { x, y, class: kind }, base, below ? make("tspan", { dy: 4, class: "below" }, below) : "");
    }
    const bars = positions.logits.map(([, y]) => make("rect", { x: RIGHT + 45, y: y + 4, height: 5, width: 0, class: "bar" }));
    const picture = make(
      "svg", { viewBox: "0 0 370 312", role: "img" },
      bundle("W_hh", "previous", "state"), bundle("W_xh", "x", "state"), bundle("W_hy", "state", "logits"),
      values("previous", "state", 2), values("x", "input", 0), values("state", "state", 2), values("logits", "op", 2),
      label(LEFT, TOP - 22, "h", "t−1"), label(LEFT, TOP + H * PITCH + 2, "x", "t"), label(MIDDLE, TOP + 52, "h", "t"),
      label(RIGHT + 28, TOP + 36, "logit and probability", null, ""),
      ["x", "logits"].flatMap((key) => vocabulary.map((letter, index) => {
        const [x, y] = positions[key][index];
        return label(key === "x" ? x - 34 : x + 34, y + 4, letter, null, "letter");
      })),
      positions.logits.map(([, y], index) => number("text", `probabilities.${index}`, 2, { x: RIGHT + 45, y, class: "start" })),
      bars,
    );

    // Controls ------------------------------------------------------------------------------------------------------

    const track = make("p", { class: "track" }, [...text].map((letter) => make("span", {}, letter)));
    const button = (label) => make("button", { type: "button", class: "u-button" }, label);
    const back = button("Back"), next = button("Step"), reset = button("Reset");
    const summary = make("p", { class: "summary", role: "status" });
    const keys = make("p", { class: "keys" }, "While a button has the focus, the arrow keys ← and → step too. You can change every weight; Reset restores them all.");
    const controls = make("div", { class: "controls" }, track, make("div", { class: "buttons" }, back, next, reset));
    const tables = make("div", { class: "tables" },
      make("div", {}, input, state, W_xh, W_hh), make("div", {}, guess, W_hy, keys));

    // Showing -------------------------------------------------------------------------------------------------------

    const changed = () => inputs.filter(([, name, indices]) => at(W[name], indices) !== at(weights[name], indices));

    function show(news) {
      const steps = run(letters, vocabulary, W);
      const now = steps[step - 1];
      for (const [key, elements] of numbers) {
        const [what, index] = key.split(".");
        for (const element of elements) element.textContent = shown(now[what][index], +element.dataset.digits);
      }
      for (const [line, name, [i, j], from] of edges) {
        const weight = W[name][i][j];
        line.style.strokeWidth = Math.min(0.4 + Math.abs(weight) * 1.1, 5);
        line.classList.toggle("negative", weight < 0);
        line.classList.toggle("silent", now[from][i] === 0);
      }
      bars.forEach((bar, index) => bar.setAttribute("width", 45 * now.probabilities[index]));
      const letterRow = vocabulary.indexOf(now.letter);
      W_xh.querySelectorAll("tbody tr").forEach((row, index) => row.classList.toggle("read", index === letterRow));
      for (const [input, name, indices] of inputs) {
        input.classList.toggle("changed", at(W[name], indices) !== at(weights[name], indices));
      }
      [...track.children].forEach((letter, index) => {
        letter.className = index === step - 1 ? "now" : index < step - 1 ? "past" : index === step ? "target" : "";
      });
      back.setAttribute("aria-disabled", step === 1);
      next.setAttribute("aria-disabled", step === letters.length);

      const best = now.probabilities.indexOf(Math.max(...now.probabilities));
      const target = text[step];
      const list = (values) => values.map((value) => shown(value, 2)).join(", ");
      const said =
        `Step ${step} of ${letters.length}. The network reads “${now.letter}”. ` +
        `Its state changes from (${list(now.previous)}) to (${list(now.state)}). ` +
        `It predicts “${vocabulary[best]}” with probability ${shown(now.probabilities[best], 2)}` +
        (vocabulary[best] === target ? ", which is right." : `, but the next letter is “${target}”.`);
      summary.textContent = (news ? `${news} ` : "") + said;
      picture.setAttribute("aria-label", `One step of the network, with the same numbers as in the tables. ${said}`);
    }

    function remember() {
      const parts = changed().map(([, name, indices]) => `&${[name, ...indices].join(".")}=${Number(at(W[name], indices).toFixed(4))}`);
      const ours = step > 1 || parts.length ? `#${NAME}=${step}${parts.join("")}` : "";
      if (!ours && !location.hash.startsWith(`#${NAME}=`)) return;
      try {
        history.replaceState(null, "", location.pathname + location.search + ours);
      } catch {
        location.replace(ours || "#");
      }
    }

    function go(to) {
      if (to < 1 || to > letters.length) return;
      step = to;
      show();
      remember();
    }

    function fill() {
      for (const [input, name, indices] of inputs) {
        const value = at(W[name], indices);
        const text = value.toFixed(2);
        input.value = Number(text) === value ? text : String(value);
        input.removeAttribute("aria-invalid");
      }
    }

    function set(name, indices, value) {
      at(W[name], indices.slice(0, -1))[indices.at(-1)] = value;
    }

    function restore() {
      const found = parse(location.hash, letters.length, weights);
      if (!found) return;
      W = structuredClone(weights);
      for (const [name, indices, value] of found.changes) set(name, indices, value);
      step = found.step;
      fill();
      show();
    }

    back.addEventListener("click", () => go(step - 1));
    next.addEventListener("click", () => go(step + 1));
    reset.addEventListener("click", () => {
      W = structuredClone(weights);
      step = 1;
      fill();
      show("All weights have their trained values again.");
      remember();
    });
    root.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!move || event.target.tagName === "INPUT" || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      go(step + move);
    });
    for (const [input, name, indices] of inputs) {
      const label = input.getAttribute("aria-label");
      input.addEventListener("input", () => {
        const value = Math.round(input.valueAsNumber * 1e4) / 1e4;
        const valid = Math.abs(value) <= LIMIT; // false for NaN
        input.setAttribute("aria-invalid", !valid);
        if (!valid) {
          summary.textContent = `${label}: type a number from −${LIMIT} to ${LIMIT}. Until then it keeps the value ${at(W[name], indices)}.`;
          return;
        }
        set(name, indices, value);
        show(`${label} is now ${shown(value, 2)}.`);
        remember();
      });
      input.addEventListener("blur", fill);
    }
    window.addEventListener("hashchange", restore);

    root.querySelector(".explorable-instead").hidden = true;
    root.append(controls, picture, summary, tables);
    show();
    restore();
  }

  document.querySelectorAll(`.explorable[data-explorable="${NAME}"]`).forEach(start);
})();
