// A network of two units: the norm of the gradient against lag, the states, and the eigenvalues, as four settings change.
// The page's address holds the settings: #lag=20&radius=1.5&input=1&activation=tanh&matrix=rotation
(function () {
  "use strict";

  const { along, box, drawing, line, make, panel, settings, shown, symbol, text } = window.explorableParts;
  const NAME = "lag";
  const STEPS = 60, LAGS = 50;
  // name: [label, smallest, largest, step, digits, at first]
  const SLIDERS = {
    radius: ["Spectral radius ρ", 0.5, 1.6, 0.05, 2, 1.5],
    input: ["Input strength", 0, 1.5, 0.05, 2, 1],
    lag: ["Lag ℓ: steps passed back", 0, LAGS, 1, 0, 20],
  };
  // name: [label, values, at first]
  const CHOICES = {
    matrix: ["Recurrent weights", ["rotation", "symmetric", "non-normal"], "rotation"],
    activation: ["Activation", ["tanh", "linear"], "tanh"],
  };
  const NAMES = ["lag", "radius", "input", "activation", "matrix"]; // as in the address

  // The network --------------------------------------------------------------------------------------------------

  const unit = [0, 1];

  // h[0] is the initial state, slopes[t] the derivatives at step t, norms[lag] the norm of the gradient of h[STEPS - lag].
  function run({ matrices, w_xh, dh, x }, { radius, input, activation, matrix }) {
    const W = matrices[matrix].map((row) => row.map((weight) => radius * weight));
    const tanh = activation === "tanh";
    const h = [[0, 0]], slopes = [null];
    for (const x_t of x) {
      const last = h.at(-1);
      const a = unit.map((j) => input * x_t * w_xh[j] + last[0] * W[0][j] + last[1] * W[1][j]);
      h.push(tanh ? a.map(Math.tanh) : a);
      slopes.push(h.at(-1).map((state) => (tanh ? 1 - state * state : 1)));
    }
    const norms = [];
    let gradient = dh;
    for (let t = STEPS; t >= STEPS - LAGS; t--) {
      norms.push(Math.hypot(...gradient) / Math.hypot(...dh));
      const da = unit.map((j) => gradient[j] * slopes[t][j]);
      gradient = unit.map((i) => da[0] * W[i][0] + da[1] * W[i][1]); // da W^T
    }
    const steps = slopes.slice(1).map(([one, two]) => eigenvalues(one * W[0][0], one * W[1][0], two * W[0][1], two * W[1][1]));
    const [[a, b], [c, d]] = W;
    const largest = (Math.hypot(a + d, b - c) + Math.hypot(a - d, b + c)) / 2; // singular value
    return { W, h, slopes, norms, steps, whole: eigenvalues(a, b, c, d), largest };
  }

  // Of [[a, b], [c, d]]: two pairs of real and imaginary part.
  function eigenvalues(a, b, c, d) {
    const middle = (a + d) / 2, inside = ((a - d) / 2) ** 2 + b * c, root = Math.sqrt(Math.abs(inside));
    return inside < 0 ? [[middle, root], [middle, -root]] : [[middle + root, 0], [middle - root, 0]];
  }

  // Text ---------------------------------------------------------------------------------------------------------

  const power = (exponent) => `10${String(exponent).replace(/./g, (sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign]))}`;
  const below = (index) => String(index).replace(/./g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]);

  // Two significant digits: 0.42, 3.1·10⁻⁵.
  function short(value) {
    if (value === 0) return "0";
    if (value >= 0.01 && value < 99.5) return value.toPrecision(2);
    const [digits, exponent] = value.toExponential(1).split("e");
    return `${digits}·${power(+exponent)}`;
  }

  function pair([[re, im], [other]]) {
    if (im) return `${shown(re, 2)} ± ${shown(im, 2)}i`;
    return `${shown(re, 2)}, ${shown(other, 2)}`;
  }

  // The explorable -----------------------------------------------------------------------------------------------

  function start(root) {
    const network = JSON.parse(root.querySelector(".explorable-data").textContent);

    // Controls ------------------------------------------------------------------------------------------------------

    const { rows, fieldsets, reset, change, restore } = settings(NAME, NAMES, SLIDERS, CHOICES, show);
    const controls = make("div", { class: "settings" }, make("div", { class: "choices" }, fieldsets), make("div", { class: "sliders" }, rows.radius, rows.input));

    // Pictures ------------------------------------------------------------------------------------------------------

    const LEFT = 42, RIGHT = 328, TOP = 20, BOTTOM = 196;
    const atLag = (lag) => LEFT + ((RIGHT - LEFT) * lag) / LAGS;
    const scale = make("g", {}), bound = line("bound"), curve = line("curve"), passed = line("passed"), mark = line("mark");
    const dot = make("circle", { r: 5, class: "here" }), told = text(0, 0), lagText = text(0, 13, "told");
    const decay = drawing(340, 214, box(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP), scale, mark, curve, passed, bound, dot, told, lagText,
      [0, 10, 20, 30, 40, 50].map((lag) => text(atLag(lag), BOTTOM + 15, "tick", lag)));

    const SIDE = 146, EDGE = 20, TOPMOST = 6, MIDX = EDGE + SIDE / 2, MIDY = TOPMOST + SIDE / 2, FOOT = TOPMOST + SIDE + 15;
    const into = (limit) => ([x, y]) => [MIDX + ((x / limit) * SIDE) / 2, MIDY - ((y / limit) * SIDE) / 2];
    const square = (across, up, ...parts) => drawing(170, 170, box(EDGE, TOPMOST, SIDE, SIDE), line("axis", `M ${EDGE} ${MIDY} h ${SIDE} M ${MIDX} ${TOPMOST} v ${SIDE}`),
      text(MIDX, FOOT, "tick", across), make("text", { transform: `translate(13 ${MIDY}) rotate(-90)`, class: "tick" }, up), ...parts);

    const way = line("way"), recent = line("recent"), from = make("circle", { r: 5, class: "here hollow" }), to = make("circle", { r: 5, class: "here" });
    const least = text(EDGE, FOOT, "tick start"), most = text(EDGE + SIDE, FOOT, "tick end");
    const plane = square("unit 1", "unit 2", way, recent, to, from, least, most);

    const REACH = 1.75, inPlane = into(REACH);
    const jacobians = make("g", {}), diamonds = unit.map(() => line("diamond"));
    const spectrum = square("real", "imaginary", make("circle", { cx: MIDX, cy: MIDY, r: SIDE / 2 / REACH, class: "unit-circle" }), jacobians, diamonds,
      [-1, 1].map((x) => text(inPlane([x, 0])[0], FOOT, "tick", shown(x, 0))));

    const states = make("span"), spectrumNote = make("span"), ofSteps = make("span");
    const pictures = make("div", { class: "pictures" },
      panel("The gradient’s norm against lag", ["Solid: this network. Dashed: ρ", make("sup", {}, "ℓ"), ", the spectral radius alone."], decay, rows.lag),
      panel("State trajectory", [states], plane),
      panel("Eigenvalues", ["◆ of ", ...symbol("W_hh"), ": ", spectrumNote, make("br"), ofSteps], spectrum));
    const summary = make("p", { class: "summary", role: "status" });
    const equation = make("span"), weights = make("span");
    const keys = make("p", { class: "equation" }, equation, ...symbol("W_hh"), " = ", weights);

    decay.addEventListener("pointerdown", (event) => {
      decay.setPointerCapture(event.pointerId);
      point(event);
    });
    decay.addEventListener("pointermove", (event) => event.buttons && point(event));

    function point(event) {
      const { left, width } = decay.getBoundingClientRect();
      const lag = Math.round(((((event.clientX - left) / width) * 340 - LEFT) / (RIGHT - LEFT)) * LAGS);
      change({ lag: Math.min(LAGS, Math.max(0, lag)) });
    }

    // Showing -------------------------------------------------------------------------------------------------------

    function showDecay({ norms }, { radius, lag }) {
      const powers = norms.map((_, at) => radius ** at);
      const exponents = [...norms, ...powers].map((value) => Math.log10(value || Number.MIN_VALUE));
      const low = Math.min(-5, 5 * Math.floor(Math.min(...exponents) / 5)), high = Math.max(5, 5 * Math.ceil(Math.max(...exponents) / 5));
      const y = (value) => TOP + ((BOTTOM - TOP) * (high - Math.log10(value || Number.MIN_VALUE))) / (high - low);
      const every = high - low > 30 ? 10 : 5;
      const ticks = [];
      for (let exponent = Math.ceil(low / every) * every; exponent <= high; exponent += every) ticks.push(exponent);
      scale.replaceChildren(...ticks.flatMap((exponent) => [
        line(exponent ? "grid" : "grid one", `M ${LEFT} ${y(10 ** exponent)} H ${RIGHT}`),
        text(LEFT - 5, y(10 ** exponent) + 4, "tick end", exponent ? power(exponent) : "1"),
      ]), text(LEFT + 6, TOP + 15, "start side", "explodes ↑"), text(LEFT + 6, BOTTOM - 7, "start side", "vanishes ↓"));
      const points = norms.map((norm, at) => [atLag(at), y(norm)]);
      bound.setAttribute("d", along(powers.map((value, at) => [atLag(at), y(value)])));
      curve.setAttribute("d", along(points));
      passed.setAttribute("d", along(points.slice(0, lag + 1)));
      const [x, height] = points[lag], ahead = lag <= 30, falls = norms[Math.min(lag + 4, LAGS)] < norms[Math.max(lag - 4, 0)];
      mark.setAttribute("d", `M ${x} ${TOP} V ${BOTTOM}`);
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", height);
      told.textContent = short(norms[lag]);
      told.setAttribute("class", `told ${ahead ? "start" : "end"}`);
      told.setAttribute("x", ahead ? x + 8 : x - 8);
      told.setAttribute("y", Math.min(BOTTOM - 5, Math.max(TOP + 14, height + (falls === ahead ? -8 : 18))));
      lagText.setAttribute("x", Math.min(x, 318));
      lagText.textContent = `lag ${lag}`;
      decay.setAttribute("aria-label", "The gradient’s norm against lag, on a logarithmic axis: " +
        `${[10, 20, 30, 40, 50].map((at) => `${short(norms[at])} at lag ${at}`).join(", ")}. The powers of the spectral radius end at ${short(powers[LAGS])}.`);
    }

    function showPlane({ h }, { activation, lag }) {
      const reach = Math.max(...h.flat().map(Math.abs));
      const decade = 10 ** Math.floor(Math.log10(reach || 1));
      const limit = activation === "tanh" || reach <= 1 ? 1 : [1, 2, 5, 10].map((times) => times * decade).find((edge) => edge >= reach);
      const points = h.map(into(limit));
      const edge = limit < 100 ? String(limit) : short(limit).replace("1.0·", "").replace(".0", "");
      most.textContent = edge;
      least.textContent = `−${edge}`;
      way.setAttribute("d", along(points));
      recent.setAttribute("d", along(points.slice(STEPS - lag)));
      for (const [circle, [x, y]] of [[to, points[STEPS]], [from, points[STEPS - lag]]]) {
        circle.setAttribute("cx", x.toFixed(2));
        circle.setAttribute("cy", y.toFixed(2));
      }
      from.classList.toggle("none", !lag);
      states.replaceChildren("● last state, ", ...symbol(`h_${STEPS}`), ...(lag ? [make("br"), "○ at the lag, ", ...symbol(`h_${STEPS - lag}`)] : []));
      const place = (t) => `h${below(t)} is (${h[t].map((state) => (Math.abs(state) < 100 ? shown(state, 2) : `${state < 0 ? "−" : ""}${short(Math.abs(state))}`)).join(", ")})`;
      plane.setAttribute("aria-label", `The states of the two units from step 0 to step ${STEPS}, inside a square from −${edge} to ${edge}; ${lag ? `${place(STEPS - lag)}, ` : ""}${place(STEPS)}.`);
    }

    function showSpectrum({ whole, steps }, { activation, radius, lag }) {
      whole.forEach((value, at) => {
        const [x, y] = inPlane(value);
        diamonds[at].setAttribute("d", `M ${x} ${y - 6} l 6 6 l -6 6 l -6 -6 z`);
      });
      const recent = steps.slice(STEPS - lag).flat().map(inPlane);
      jacobians.replaceChildren(...recent.map(([cx, cy]) => make("circle", { cx: cx.toFixed(2), cy: cy.toFixed(2), r: 2, class: "jacobian" })));
      spectrumNote.textContent = pair(whole);
      ofSteps.textContent = activation === "linear" ? "and of every Jacobian" : lag ? `• of ${lag > 1 ? `the ${lag} Jacobians` : "the last Jacobian"}` : "";
      const where = radius > 1 ? "outside" : radius < 1 ? "inside" : "on";
      spectrum.setAttribute("aria-label", `The eigenvalues of the recurrent weights in the complex plane: ${pair(whole)}. The largest is ${where} the unit circle. ` +
        "Small dots: the eigenvalues of the Jacobians of the steps that the gradient has passed.");
    }

    function show(chosen) {
      const now = run(network, chosen), { lag, radius, activation, input } = chosen;
      showDecay(now, chosen);
      showPlane(now, chosen);
      showSpectrum(now, chosen);
      const derivatives = now.slopes.slice(1 + STEPS - lag).flat();
      const mean = derivatives.reduce((sum, slope) => sum + slope, 0) / derivatives.length;
      const steps = lag === 1 ? "this step" : `these ${lag} steps`;
      const derivative = activation === "linear" ? "; the derivative of a linear unit is 1" : lag ? `; the mean derivative of tanh in ${steps} is ${short(mean)}` : "";
      summary.textContent = `${lag ? `At lag ${lag}, the gradient’s norm is ${short(now.norms[lag])} times what it was` : "At lag 0, the gradient has not been passed back yet"}` +
        `; the spectral radius is ${shown(radius, 2)} and the largest singular value ${shown(now.largest, 2)}${derivative}.`;
      equation.replaceChildren(...symbol("h_t"), activation === "tanh" ? " = tanh(" : " = ", `${shown(input, 2)} `, ...symbol("x_t"), ` (${network.w_xh.map((weight) => shown(weight, 1)).join(", ")}) + `,
        ...symbol("h_t−1"), " ", ...symbol("W_hh"), activation === "tanh" ? "), " : ", ");
      weights.textContent = `(${now.W.map((row) => `(${row.map((weight) => shown(weight, 3).replace(/\.?0+$/, "")).join(", ")})`).join(", ")})`;
    }

    root.querySelector(".explorable-instead").hidden = true;
    root.append(controls, pictures, summary, make("div", { class: "foot" }, keys, reset));
    restore();
  }

  document.querySelectorAll(`.explorable[data-explorable="${NAME}"]`).forEach(start);
})();
