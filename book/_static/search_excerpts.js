// Excerpts below the results of a search, from search_texts.js, in the place of those that Sphinx fetches page by page:
// a page opened as a file may not fetch, and so there would be none. Loaded on the search page alone.
(function () {
  "use strict";

  const LENGTH = 240, BEFORE = 120; // as Sphinx's
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

  // The texts are large, and without them the results are links alone, so a script that cannot be had ends nothing.
  const loadTexts = () => new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${document.documentElement.dataset.content_root}_static/search_texts.js`;
    script.onload = script.onerror = () => done(window.searchTexts ?? {});
    document.head.append(script);
  });

  // A pattern that finds words which begin with one that was typed or with its stem, to their end.
  function patternOf(word) {
    const either = [...new Set([word, new Stemmer().stemWord(word)])].map(_escapeRegExp).join("|");
    return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${either})${word.length > 2 ? "[\\p{L}\\p{N}_]*" : "(?![\\p{L}\\p{N}_])"}`, "giu");
  }

  // The text of a page from its beginning, or that of the section with this address.
  function textOf(sections, anchor) {
    const own = anchor ? sections.filter(([id]) => `#${id}` === anchor) : sections;
    return (own.length ? own : sections).map(([, text]) => text).join(" ");
  }

  // Where the excerpt begins: near the first place that has as many of the words as any other.
  function startOf(text, patterns) {
    const places = patterns.flatMap((pattern, of) => [...text.matchAll(pattern)].map(({ index }) => [index, of])).sort(([one], [other]) => one - other);
    let best = 0, most = 0;
    places.forEach(([index], first) => {
      const near = new Set();
      for (let at = first; at < places.length && places[at][0] < index + LENGTH - BEFORE; at += 1) near.add(places[at][1]);
      if (near.size > most) [best, most] = [index, near.size];
    });
    const start = Math.max(best - BEFORE, 0);
    return start && text.indexOf(" ", start) + 1;
  }

  // Text alone goes into the page, never markup: what is said of HTML stays words.
  function excerptOf(text, patterns) {
    const start = startOf(text, patterns), end = Math.min(start + LENGTH, text.length);
    const cut = text.slice(start, end < text.length ? text.lastIndexOf(" ", end) : end);
    const marks = patterns.flatMap((pattern) => [...cut.matchAll(pattern)].map((found) => [found.index, found.index + found[0].length])).sort(([one], [other]) => one - other);
    const excerpt = document.createElement("p");
    excerpt.className = "context";
    let said = 0;
    excerpt.append(start ? "…" : "");
    for (const [from, to] of marks) {
      if (from < said) continue;
      const mark = document.createElement("span");
      mark.className = "highlighted";
      mark.textContent = cut.slice(from, to);
      excerpt.append(cut.slice(said, from), mark);
      said = to;
    }
    excerpt.append(cut.slice(said), end < text.length ? " …" : "");
    return excerpt;
  }

  Search.query = async (query) => {
    const [typed, stems, excluded, words, objects] = Search._parseQuery(query);
    const results = Search._performSearch(typed, stems, excluded, words, objects).reverse();
    const texts = await loadTexts(), patterns = [...words].map(patternOf);
    for (const result of results) {
      _displayItem(result, stems, words);
      const [page, , anchor] = result, item = Search.output.lastElementChild;
      words.forEach((word) => _highlightText(item, word, "highlighted"));
      const text = textOf(texts[page] ?? [], anchor);
      if (text) item.append(excerptOf(text, patterns));
    }
    _finishSearch(results.length);
  };
})();
