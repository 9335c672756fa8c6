// Byte pair encoding, step by step, of a text that the reader types.
// The page's address holds the state: #merges=3&text=the%20cat%20sat
(function () {
  "use strict";

  const { make, shown, table } = window.explorableParts;
  const NAME = "bpe";
  const ROWS = 5; // of the table of pairs

  // Byte pair encoding ---------------------------------------------------------------------------------------------

  // The order in which Python sorts strings: by code points.
  function compare(a, b) {
    const left = [...a], right = [...b];
    const at = left.findIndex((each, index) => each !== right[index]);
    return at < 0 ? left.length - right.length : (left[at].codePointAt(0) - (right[at]?.codePointAt(0) ?? -1));
  }

  // Single spaces, none at the ends; each belongs to the word after it.
  const tidy = (text) => text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/gu, " ").trim();
  const split = (text) => (text.match(/ ?[^ ]+/g) ?? []).map((word) => [...word]);

  // The pairs that could be merged, the next one first. words: lists of pieces.
  function countPairs(words) {
    const found = new Map();
    for (const word of words) {
      for (let i = 1; i < word.length; i++) {
        const pair = word.slice(i - 1, i + 1), key = pair.join("\0");
        if (!found.has(key)) found.set(key, { pair, count: 0 });
        found.get(key).count += 1;
      }
    }
    return [...found.values()].sort((one, other) => other.count - one.count || compare(one.pair[0], other.pair[0]) || compare(one.pair[1], other.pair[1]));
  }

  // From left to right.
  function merge(word, [first, second]) {
    const found = [];
    for (let i = 0; i < word.length; i++) found.push(word[i] === first && word[i + 1] === second ? word[i] + word[++i] : word[i]);
    return found;
  }

  // The words before any merge, after the first, and so on.
  function stages(text, most) {
    let words = split(text), pairs = countPairs(words);
    const found = [{ words, pairs }];
    while (pairs.length && found.length <= most) {
      const made = pairs[0];
      words = words.map((word) => merge(word, made.pair));
      pairs = countPairs(words);
      found.push({ words, pairs, made });
    }
    return found;
  }

  // Tokens per character, and bits per character without and with the list of merges.
  function measure(text, words, merges) {
    const tokens = words.flat(), counts = new Map(), length = [...text].length;
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
    let cost = 0, listed = 0;
    for (const count of counts.values()) cost += count * Math.log2(tokens.length / count);
    for (let made = 0; made < merges; made++) listed += 2 * Math.log2(new Set(text).size + made);
    return { length, tokens: tokens.length, kinds: counts.size, perCharacter: tokens.length / length, bits: cost / length, whole: (cost + listed) / length };
  }

  // The explorable -------------------------------------------------------------------------------------------------

  function start(root) {
    const data = JSON.parse(root.querySelector(".explorable-data").textContent);
    const first = { text: data.text, merges: data.merges };
    let now = first, wanted = first.merges, all, later; // `wanted` merges are made if the text has so many

    const visible = (piece) => piece.replaceAll(" ", "␣");
    const quoted = ([one, other]) => `“${visible(one)}” and “${visible(other)}”`;
    const button = (label, act) => {
      const made = make("button", { type: "button", class: "u-button" }, label);
      made.addEventListener("click", act);
      return made;
    };
    const typed = make("textarea", { name: "bpe-text", rows: 3, maxlength: data.longest, autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    typed.addEventListener("input", () => change({ text: tidy(typed.value) }));
    const slider = make("input", { type: "range", min: 0, step: 1, name: "bpe-merges", autocomplete: "off" });
    slider.addEventListener("input", () => change({ merges: +slider.value }));
    const value = make("span", { class: "value", "aria-hidden": true });
    const back = button("Undo", () => change({ merges: now.merges - 1 })), next = button("Merge", () => change({ merges: Math.min(now.merges + 1, all.length - 1) }));
    const reset = button("Reset", () => {
      typed.value = first.text;
      change(first);
    });
    const pieces = make("div", { class: "pieces", role: "img" });
    const summary = make("p", { class: "summary", role: "status" }), tables = make("div", { class: "tables" });

    function show() {
      const { words, pairs, made } = all[now.merges];
      slider.max = all.length - 1;
      slider.value = now.merges;
      value.textContent = now.merges;
      for (const [each, none] of [[back, now.merges === 0], [next, now.merges === all.length - 1]]) each.setAttribute("aria-disabled", none);

      const fresh = made && made.pair.join("");
      pieces.replaceChildren(...words.map((word) => make("span", { class: "word" }, word.map((piece) => make("span", { class: `piece${piece === fresh ? " fresh" : ""}` }, visible(piece))))));
      pieces.setAttribute("aria-label", `Tokens: ${words.flat().map(visible).join(", ")}`);

      const at = measure(now.text, words, now.merges), begin = measure(now.text, all[0].words, 0);
      const cells = (...values) => values.map((each) => make("td", {}, each));
      const row = (name, key, digits, kind) => [name, now.text ? cells(shown(begin[key], digits), shown(at[key], digits)) : cells("–", "–"), kind];
      const listed = pairs.slice(0, ROWS).map(({ pair, count }, index) => [pair.map(visible).join(" + "), cells(String(count)), index ? "" : "result"]);
      while (listed.length < ROWS) listed.push(["–", cells("–")]);
      tables.replaceChildren(
        table("The numbers", ["no merge", "now"], [row("tokens", "tokens", 0), row("different tokens", "kinds", 0), row("tokens per character", "perCharacter", 3, "result"), row("bits per character", "bits", 3, "result"), row("… with the merges", "whole", 3, "result")]),
        table("The most frequent pairs now", ["times"], listed));

      const tie = pairs.filter(({ count }) => count === pairs[0].count).length - 1;
      summary.textContent = !now.text ? "Type some text."
        : (made ? `Merge ${now.merges} joined ${quoted(made.pair)}, counted ${made.count === 1 ? "once" : `${made.count} times`}. ` : "Every character is a token. ")
          + (pairs.length ? (now.merges < data.most ? `Next come ${quoted(pairs[0].pair)}, counted ${pairs[0].count === 1 ? "once" : `${pairs[0].count} times`}` + (tie ? `, a tie with ${tie === 1 ? "one other pair" : `${tie} other pairs`}: the first in alphabetical order is taken.` : ".") : `After ${data.most} merges we stop.`) : "Every word is one token, so no pair is left.");
    }

    // State and address ----------------------------------------------------------------------------------------------

    function parse(hash) {
      const found = /^#merges=(0|[1-9]\d?)&text=([^&=]*)$/.exec(hash);
      if (!found) return null;
      try {
        const text = tidy(decodeURIComponent(found[2]));
        return [...text].length <= data.longest ? { merges: +found[1], text } : null;
      } catch {
        return null;
      }
    }

    function remember() {
      const changed = now.text !== first.text || now.merges !== first.merges;
      const ours = changed ? `#merges=${now.merges}&text=${encodeURIComponent(now.text)}` : "";
      if (!ours && !location.hash.startsWith("#merges=")) return;
      try {
        history.replaceState(null, "", location.pathname + location.search + ours);
      } catch {
        location.replace(ours || "#");
      }
    }

    function set({ text = now.text, merges = wanted }) {
      if (!all || text !== now.text) all = stages(text, data.most);
      wanted = Math.max(merges, 0);
      now = { text, merges: Math.min(wanted, all.length - 1) };
      show();
    }

    // While text is typed, the address waits: browsers refuse too many changes of it.
    function change(news) {
      set(news);
      clearTimeout(later);
      later = setTimeout(remember, 150);
    }

    function restore() {
      const found = parse(location.hash);
      if (found || !all) set(found ?? first);
      if (tidy(typed.value) !== now.text) typed.value = now.text;
    }

    window.addEventListener("hashchange", restore);
    root.querySelector(".explorable-instead").hidden = true;
    root.append(make("label", { class: "typed" }, make("span", {}, "Text"), typed), make("div", { class: "controls" }, make("div", { class: "buttons" }, back, next), make("label", { class: "slider" }, make("span", {}, "Merges"), slider, value)),
      make("div", { class: "panel" }, make("p", { class: "title" }, "Its tokens"), pieces), summary, tables,
      make("div", { class: "foot" }, make("p", { class: "keys" }, "A space, ␣, belongs to the word after it, and no merge crosses the end of a word. What the last merge made is framed twice."), reset));
    restore();
  }

  document.querySelectorAll(`.explorable[data-explorable="${NAME}"]`).forEach(start);
})();
