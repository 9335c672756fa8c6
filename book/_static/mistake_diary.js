// The mistake diary: lists the mistakes of a file that the reader chooses. It is read in this page and sent nowhere.
(function () {
  "use strict";

  const LARGEST = 50e6; // bytes of a file

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // `code` between backticks becomes an element, and so does an emphasised *word* outside code.
  function inline(text) {
    return text.split("`").flatMap((part, at) => (at % 2 ? element("code", {}, part) : emphasised(part)));
  }

  function emphasised(text) {
    return text.split(/(?<![\w*])\*(\w(?:[^*<>\n]*\w)?)\*(?![\w*])/).map((part, at) => (at % 2 ? element("em", {}, part) : part));
  }

  function entries(text) {
    const found = [];
    for (const line of text.split("\n")) {
      try {
        const entry = JSON.parse(line);
        if (typeof entry.exercise === "string" && typeof entry.status === "string") found.push(entry);
      } catch {
        continue; // a line that was cut off
      }
    }
    return found;
  }

  // The rules of `met` in grader/mistakes.py.
  function met(checks, data) {
    const isMistake = (entry) => Boolean(entry.cause) && ["failed", "error"].includes(entry.status) && !data.none.includes(entry.cause);
    const causes = [...new Set(checks.filter(isMistake).map((entry) => entry.cause))];
    return causes.map((cause) => {
      const shows = checks.map((entry) => isMistake(entry) && entry.cause === cause);
      const later = checks.slice(shows.lastIndexOf(true) + 1);
      return {
        cause,
        times: shows.filter(Boolean).length,
        passed: later.some((entry) => entry.status === "passed"),
        gone: later.some(isMistake),
      };
    });
  }

  function title(cause, own, data) {
    const titles = new Map([...Object.entries(data.general), ...Object.entries(own)]);
    const kind = Object.keys(data.kinds).find((start) => cause.startsWith(start));
    return titles.get(cause) ?? data.kinds[kind];
  }

  function counted(count, noun) {
    return `${count} ${noun}${count === 1 ? "" : "s"}`;
  }

  function item(mistake, name) {
    const state = mistake.passed ? "Overcome: the exercise passed later." : mistake.gone ? "Overcome: a later check no longer showed it." : "Still open.";
    const mark = mistake.passed || mistake.gone ? "✓ " : "○ ";
    return element("li", {}, mark, ...inline(name), element("span", { className: "mistake-diary-state" }, ` ${state} Met in ${counted(mistake.times, "check")}.`));
  }

  function summary(all) {
    if (!all.length) return "Your checks have met no known mistake in this chapter yet.";
    const overcome = all.filter((mistake) => mistake.passed || mistake.gone).length;
    const known = `Your checks have met ${counted(all.length, "mistake")} in this chapter`;
    if (overcome < all.length) return `${known}. You have overcome ${overcome} of them.`;
    return `${known}, and you have overcome ${overcome === 1 ? "it" : "all of them"}.`;
  }

  function start(box) {
    const data = JSON.parse(box.querySelector(".mistake-diary-data").textContent);
    const input = element("input", { type: "file", accept: ".jsonl" });
    const help = element("span", { id: "mistake-diary-help" }, ...inline("The folder may be hidden: `grader diary --path` prints where the file is."));
    input.setAttribute("aria-describedby", help.id);
    const told = element("p");
    told.setAttribute("role", "status");
    const list = element("ul", { className: "mistake-diary-list" });
    const label = element("label", {}, "Or choose the file. This page reads it and sends it nowhere. ", input);
    box.append(element("div", { className: "mistake-diary-chooser" }, label, help), told, list);

    function show(text) {
      const found = entries(text);
      const all = [];
      list.replaceChildren();
      for (const [id, [name, address, own]] of Object.entries(data.exercises)) {
        const checks = found.filter((entry) => entry.exercise === id);
        const known = met(checks, data).map((mistake) => [mistake, title(mistake.cause, own, data)]).filter(([, text]) => text);
        if (!known.length) continue;
        all.push(...known.map(([mistake]) => mistake));
        const items = known.map(([mistake, text]) => item(mistake, text));
        list.append(element("li", {}, element("a", { href: address }, name), element("ul", {}, ...items)));
      }
      told.textContent = found.length ? summary(all) : "This file contains no checks. Choose the file diary.jsonl.";
    }

    input.addEventListener("change", () => {
      const [file] = input.files;
      if (!file) return;
      if (file.size > LARGEST) {
        list.replaceChildren();
        told.textContent = "This file is too large for a diary. Choose the file diary.jsonl.";
        return;
      }
      file.text().then(show, () => {
        list.replaceChildren();
        told.textContent = "This file cannot be read. Choose it again.";
      });
    });
  }

  document.querySelectorAll(".mistake-diary").forEach(start);
})();
