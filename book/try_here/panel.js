// The editor under an exercise, and Python in a worker behind it. Loaded by try_here.js when its button is pressed.
(function () {
  "use strict";
  const PACKS = /* the packs, as the build made them */ {};
  const LIMITS = { factor: 10, shortest: 20 }; // a page's Python may be this much slower than grading assumes; seconds
  const LARGEST = 5e6; // bytes of a file of saved work
  const KEY = "unrolled:try:";
  const FORMAT = "unrolled-work-1";
  let folder;

  // --- small things -------------------------------------------------------------------------------

  function element(tag, properties = {}, ...children) {
    const { aria = {}, ...rest } = properties;
    const made = Object.assign(document.createElement(tag), rest);
    for (const [name, value] of Object.entries(aria)) made.setAttribute(name === "role" ? name : `aria-${name}`, value);
    made.append(...children);
    return made;
  }

  function button(text, press, properties = {}) {
    return element("button", { type: "button", className: "u-button", textContent: text, onclick: press, ...properties });
  }

  function save(name, text, type) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }

  function counted(count, noun) {
    return `${count} ${noun}${count === 1 ? "" : "s"}`;
  }

  // --- what was written, by exercise --------------------------------------------------------------

  const store = {
    kept: true, // whether this browser keeps it
    memory: new Map(),
    read(name) {
      try {
        return localStorage.getItem(KEY + name) ?? this.memory.get(name) ?? null;
      } catch {
        this.kept = false;
        return this.memory.get(name) ?? null;
      }
    },
    write(name, text) {
      this.memory.set(name, text);
      try {
        localStorage.setItem(KEY + name, text);
        this.kept = true;
      } catch {
        this.kept = false;
      }
    },
    remove(name) {
      this.memory.delete(name);
      try {
        localStorage.removeItem(KEY + name);
      } catch {
        this.kept = false;
      }
    },
    names() {
      let found = [];
      try {
        found = Object.keys(localStorage).filter((key) => key.startsWith(KEY));
      } catch {
        this.kept = false;
      }
      return [...new Set([...found.map((key) => key.slice(KEY.length)), ...this.memory.keys()])].sort();
    },
    code: (id) => store.read(`code:${id}`),
    passed: (id) => store.read(`code:${id}`) !== null && store.read(`passed:${id}`) === store.read(`code:${id}`),
  };

  // --- packs --------------------------------------------------------------------------------------

  class Cancelled extends Error {}

  function loadScript(address, signal) {
    return new Promise((resolve, reject) => {
      const made = element("script", { src: address });
      const end = (call, value) => {
        signal?.removeEventListener("abort", stop);
        made.remove();
        call(value);
      };
      const stop = () => end(reject, new Cancelled());
      made.onload = () => end(resolve);
      made.onerror = () => end(reject, new Error(`${new URL(address).pathname.split("/").pop()} could not be loaded`));
      if (signal?.aborted) return stop();
      signal?.addEventListener("abort", stop);
      document.head.append(made);
    });
  }

  function bytesOf(text) {
    return Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  }

  // The files of a pack, as [path, bytes] each. `loaded` is told the share of each piece that has arrived.
  async function loadPack(name, { signal, loaded = () => {} } = {}) {
    const { files, version } = PACKS[name];
    const pieces = await Promise.all(
      files.map(async (file, at) => {
        await loadScript(new URL(`${file}?v=${version}`, folder), signal);
        const key = `${name}/${at}`;
        const bytes = bytesOf(self.unrolledPacks[key]);
        delete self.unrolledPacks[key];
        loaded(1 / files.length);
        return bytes;
      }),
    );
    const stream = new Blob(pieces).stream().pipeThrough(new DecompressionStream("gzip"));
    const whole = new Uint8Array(await new Response(stream).arrayBuffer());
    const line = whole.indexOf(10);
    let at = line + 1;
    return JSON.parse(new TextDecoder().decode(whole.subarray(0, line))).map(([path, size]) => [path, whole.slice(at, (at += size))]);
  }

  function textOf(files, name) {
    return new TextDecoder().decode(files.find(([path]) => path === name)[1]);
  }

  const exercises = new Map(); // those whose packs are here

  async function exerciseOf(id) {
    if (!exercises.has(id)) {
      const files = await loadPack(id);
      exercises.set(id, { id, files, about: JSON.parse(textOf(files, "exercise.json")) });
    }
    return exercises.get(id);
  }

  // What runs before an exercise: its set-up, and the exercises that stand before it in the notebook.
  function builtOn({ setup, before: stubs, given }) {
    const notes = [];
    const before = [["<set-up>", setup]];
    for (const [name, stub] of Object.entries(stubs)) {
      const mine = store.code(name);
      const written = mine !== null && mine !== stub;
      if (name in given && !(written && store.passed(name))) {
        before.push([`<given ${name}>`, given[name]]);
        notes.push(`It builds on ${name}. ${written ? "Yours has not passed its check yet" : "You have not written yours yet"}, so a given version runs here in its place.`);
      } else {
        before.push([`<your ${name}>`, mine ?? stub]);
        if (name in given) notes.push(`It builds on ${name}: yours is used.`);
      }
    }
    return { before, notes };
  }

  // --- Python -------------------------------------------------------------------------------------

  const python = {
    packs: null, // the files of `python` and `grader`, kept so that a restart loads nothing
    module: undefined, // the compiled interpreter, for the same reason
    worker: null,
    started: null,
    busy: false, // whether code runs, or is waiting to
    waiting: new Map(),
    inside: new Set(), // the exercises whose data the worker has
    last: 0,

    async load(progress, signal) {
      if (this.packs) return;
      const share = PACKS.python.size / (PACKS.python.size + PACKS.grader.size);
      let done = 0;
      const [library, grader] = await Promise.all([
        loadPack("python", { signal, loaded: (part) => progress((done += part * share)) }),
        loadPack("grader", { signal, loaded: (part) => progress((done += part * (1 - share))) }),
      ]);
      if (!self.DOMPurify) await loadScript(URL.createObjectURL(new Blob([textOf(grader, "purify.min.js")], { type: "text/javascript" })));
      this.packs = [...library, ...grader];
    },

    start() {
      this.started ??= new Promise((resolve, reject) => {
        const code = this.packs.find(([path]) => path === "worker.js")[1];
        this.worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
        this.worker.onmessage = ({ data }) => this.answered(data);
        this.worker.onerror = (event) => {
          event.preventDefault();
          this.end({ ended: true, why: event.message });
        };
        this.ask("start", { packs: this.packs, diary: store.read("diary") ?? "", module: this.module }).then((answer) => {
          if (!answer.done) return reject(new Error(answer.why ?? "Python did not start"));
          this.module = answer.done.module;
          resolve(answer.done.versions);
        });
      });
      this.started.catch(() => {});
      return this.started;
    },

    answered({ id, text, done, failed }) {
      const asked = this.waiting.get(id);
      if (!asked) return;
      if (text !== undefined) return asked.print(text);
      if (failed !== undefined) return this.end({ ended: true, why: failed });
      this.waiting.delete(id);
      asked.resolve({ done: done ?? true });
    },

    ask(kind, message, print = () => {}) {
      const id = ++this.last;
      return new Promise((resolve) => {
        this.waiting.set(id, { resolve, print });
        this.worker.postMessage({ id, kind, ...message });
      });
    },

    // End the worker; whoever waits for it is told why. The next `start` starts another.
    end(why) {
      this.worker?.terminate();
      this.worker = this.started = null;
      this.inside.clear();
      const all = [...this.waiting.values()];
      this.waiting.clear();
      all.forEach(({ resolve }) => resolve(why));
    },

    // Give the worker the recorded checks and the messages of an exercise, once.
    async give({ id, files }) {
      if (this.inside.has(id)) return;
      await this.ask("load", { files: files.filter(([path]) => path.includes("/")) });
      this.inside.add(id);
    },

    async run(exercise, request, seconds, print) {
      await this.start();
      if (exercise) await this.give(exercise);
      const limit = setTimeout(() => this.end({ late: true }), seconds * 1000);
      const answer = await this.ask("run", { request: JSON.stringify(request) }, print);
      clearTimeout(limit);
      return answer;
    },
  };

  // --- the panel of one exercise ------------------------------------------------------------------

  function cleaned(html) {
    const made = element("div");
    made.innerHTML = self.DOMPurify.sanitize(html, { FORBID_TAGS: ["style", "form", "input", "button", "a", "img"], ADD_ATTR: ["tabindex"] });
    return made;
  }

  function formulas(place) {
    if (!place.querySelector(".math")) return;
    if (self.MathJax?.typesetPromise) return void self.MathJax.typesetPromise([place]);
    if (self.MathJax) return;
    self.MathJax = { options: { enableMenu: false, enableAssistiveMml: true, processHtmlClass: "math" } };
    loadScript(new URL("../mathjax/tex-chtml.js", folder)).catch(() => {});
  }

  const WORDS = {
    passed: (points) => `Everything is right: ${points}.`,
    failed: (points) => `Not right yet: ${points}. The report says where.`,
    error: (points) => `Not right yet: ${points}. The report says which exception was raised.`,
    unimplemented: () => "Not written yet. Replace the line that raises NotImplementedError.",
    raised: () => "Your code raised an exception before it could be checked. It is printed below.",
    undefined: () => "The function that is to be checked is not there.",
    cell: () => "The code raised an exception. It is printed below.",
    "": () => "Done.",
  };

  // Of an exercise; or, without one, of a code cell of the page: its code, and what has to run before it.
  class Panel {
    constructor(box, exercise, cell) {
      this.box = box;
      this.exercise = exercise;
      this.about = exercise?.about;
      this.cell = cell;
      this.key = exercise?.id ?? box.dataset.scratch;
      this.first = box.id.startsWith("try-first-"); // shows the code with which the editor begins
      this.start = this.first ? box.querySelector("pre").textContent : (this.about?.stub ?? cell.code);
      this.level = 0;
      this.build();
    }

    get name() {
      return this.exercise?.id ?? "code";
    }

    get code() {
      return this.editor.value;
    }

    build() {
      const id = this.box.id;
      const saved = store.code(this.key);
      this.editor = element("textarea", {
        id: `${id}-code`, className: "try-code", spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off",
        value: saved ?? this.start, aria: { describedby: `${id}-keys` },
      });
      this.editor.setAttribute("autocorrect", "off");
      this.fit();
      this.editor.addEventListener("input", () => this.changed());
      this.editor.addEventListener("keydown", (event) => this.key_(event));
      this.status = element("p", { className: "try-status", aria: { role: "status" } });
      this.bar = element("progress", { max: 1, value: 0, hidden: true, aria: { label: "Loading Python" } });
      this.printed = element("pre", { className: "try-printed", tabIndex: 0, hidden: true, aria: { label: "What your code printed", role: "region" } });
      this.report = element("div", { className: "try-report", aria: { label: `Report on ${this.name}`, role: "region" } });
      this.hinted = element("div", { className: "try-hint" });
      const first = this.box.querySelector(".try-first-report"); // of the code that the page shows
      if (first && saved === null) this.report.append(first);
      this.notes = element("p", { className: "try-notes", hidden: true });
      this.runs = button(this.exercise ? "Run and check" : "Run this code", () => this.run());
      this.stops = button("Stop", () => this.stop(), { hidden: true });
      const row = element("div", { className: "try-buttons" }, this.runs, this.stops, ...(this.exercise ? this.helps() : []));
      this.body = element(
        "div",
        { className: "try-panel", aria: { role: "group", label: this.exercise ? `Try it here: ${this.about.title}` : "Scratch cell" } },
        ...(this.about?.task ? [this.folded("The task, and the code that stands before it", this.task())] : []),
        element("label", { htmlFor: this.editor.id, textContent: this.exercise ? `Your ${this.name}` : "Code to try" }),
        this.editor,
        element("p", { id: `${id}-keys`, className: "try-keys", textContent: "Ctrl+Enter runs it. Tab leaves the editor; Ctrl+] and Ctrl+[ indent and unindent lines." }),
        row, this.bar, this.status, this.hinted, this.notes, this.printed, this.report,
        this.folded("More", this.more()),
      );
      this.box.replaceChildren(this.body);
      formulas(this.body);
      this.editor.focus();
      this.editor.setSelectionRange(0, 0);
      this.editor.scrollTo(0, 0);
    }

    // Bring into view what a press has changed; the focus stays where it is.
    look(place) {
      place.scrollIntoView({ block: "nearest" });
    }

    folded(summary, ...content) {
      return element("details", { className: "folded" }, element("summary", { textContent: summary }), ...content);
    }

    task() {
      const place = element("div", { className: "try-task" });
      place.innerHTML = this.about.task; // of the book itself
      place.querySelectorAll("table, pre, .math.block").forEach((wide) => wide.setAttribute("tabindex", "0"));
      if (this.about.setup) {
        place.append(element("p", { textContent: "This runs before your code:" }), element("pre", { tabIndex: 0 }, element("code", { textContent: this.about.setup })));
      }
      return place;
    }

    helps() {
      this.hints = button("Hint", () => this.hint());
      return [this.hints, button("Download the notebook", () => this.download())];
    }

    more() {
      const chooser = element("input", { type: "file", accept: ".json", onchange: () => this.bring(chooser) });
      return element(
        "div",
        { className: "try-more" },
        element(
          "div",
          { className: "try-buttons" },
          ...(this.exercise ? [button("My progress", () => this.ask("progress")), button("My mistake diary", () => this.ask("diary"))] : []),
          button("Reset", () => this.reset()),
          button("Export all my work", () => this.export_()),
        ),
        element("label", {}, "Import a file of exported work: ", chooser),
      );
    }

    // --- loading ---

    async ready() {
      if (!python.packs) {
        this.loading = new AbortController();
        this.tell("Loading Python. You can read and write in the meantime.");
        this.bar.hidden = false;
        const cancel = button("Cancel", () => this.loading.abort());
        this.bar.after(cancel);
        try {
          await python.load((share) => (this.bar.value = share), this.loading.signal);
        } catch (error) {
          this.tell(error instanceof Cancelled ? "Cancelled. Your code is kept; Run starts again." : `${error.message}. Is the connection there? Your code is kept; Run tries again.`);
          return false;
        } finally {
          this.bar.hidden = true;
          cancel.remove();
          this.loading = null;
        }
      }
      if (!python.worker) this.tell("Starting Python …");
      try {
        const versions = await python.start();
        document.querySelectorAll(".try-here-told").forEach((told) => (told.hidden = true)); // the others load no more
        const kept = store.code(this.key) === null || !this.exercise ? "" : store.passed(this.key) ? " This is the code with which you passed." : " This is your code from before.";
        if (!this.running) this.tell(`Python ${versions.python} with NumPy ${versions.numpy} is ready.${kept}`);
        return true;
      } catch (error) {
        this.tell(`Python did not start in this browser (${error.message}). Use the notebook instead.`);
        return false;
      }
    }

    tell(text) {
      this.status.textContent = text;
    }

    // --- running ---

    // What runs before the code, and what the reader is told about it.
    async before() {
      if (this.exercise) return builtOn(this.about);
      const before = [];
      const notes = [];
      for (const name of this.cell.exercises) {
        const { about } = await exerciseOf(name);
        const own = store.passed(name) ? store.code(name) : about.given[name];
        if (own === undefined) {
          const link = element("a", { href: new URL(`../../${about.page}`, folder), textContent: about.title });
          return { missing: ["This code uses ", element("code", { textContent: name }), ", which you write yourself in the exercise ", link, ". Once it passes there, come back and run this."] };
        }
        before.push(...builtOn(about).before, [store.passed(name) ? `<your ${name}>` : `<given ${name}>`, own]);
        notes.push(store.passed(name) ? `It uses your ${name}.` : `It uses a given version of ${name}, because you have not written yours yet.`);
      }
      return { before: [...before, ["<set-up>", this.cell.before]], notes };
    }

    async run() {
      if (this.running) return;
      if (python.busy) return this.tell("Something else on this page is still running. Stop it first.");
      this.running = python.busy = true;
      this.runs.setAttribute("aria-disabled", "true");
      this.printed.textContent = "";
      this.printed.hidden = true;
      this.report.replaceChildren();
      try {
        await this.runCode();
      } catch (error) {
        this.tell(`${error.message}. Is the connection there? Your code is kept.`);
      } finally {
        this.stops.hidden = true;
        this.running = python.busy = false;
        this.runs.removeAttribute("aria-disabled");
      }
    }

    async runCode() {
      const { before, notes = [], missing } = await this.before();
      this.notes.replaceChildren(...(missing ?? [notes.join(" ")]));
      this.notes.hidden = !missing && !notes.length;
      if (missing) return this.tell("Not run yet.");
      if (!(await this.ready())) return;
      this.stops.hidden = false;
      this.tell("Running …");
      const seconds = Math.max(LIMITS.shortest, LIMITS.factor * (this.about?.seconds ?? 10));
      const code = this.code;
      const request = { exercise: this.exercise?.id ?? null, name: this.name, before, code };
      const answer = await python.run(this.exercise, request, seconds, (text) => this.print(text));
      this.show(answer, code, seconds);
    }

    print(text) {
      this.printed.hidden = false;
      this.printed.append(text);
    }

    show({ done, late, stopped, why }, code, seconds) {
      if (late) {
        if (this.about) this.report.replaceChildren(cleaned(this.about.stopped));
        python.start().catch(() => {}); // so that the next run need not wait
        this.look(this.status);
        return this.tell(`Stopped after ${counted(Math.ceil(seconds), "second")}. Your code is kept.`);
      }
      if (stopped) return this.tell("Stopped. Your code is kept.");
      if (!done) return this.tell(`Python ended while your code ran (${why}). Your code is kept, and Run starts Python again.`);
      if (done.problem) this.print(done.problem);
      this.report.replaceChildren(...done.shown.map(cleaned));
      store.write("diary", done.diary);
      if (done.status === "passed") store.write(`passed:${this.key}`, code);
      const words = !this.exercise && done.status === "raised" ? WORDS.cell : WORDS[done.status];
      const more = done.status === "passed" ? this.offer() : "";
      this.tell(words(`${done.earned} of ${counted(done.points, "point")}`) + more);
      if (done.status === "passed" && this.first) {
        this.notes.replaceChildren("Next: ", element("a", { href: new URL(`../../${this.about.page}`, folder), textContent: "the page that explains this step, where your code is kept" }), ".");
        this.notes.hidden = false;
      }
      this.look(this.status);
      this.box.dataset.status = done.status;
      this.box.dataset.milliseconds = done.milliseconds;
    }

    // What a page keeps for readers who have passed: folded, with the words that offer it. Most pages keep nothing.
    offer() {
      const kept = document.getElementById(`passed-${this.key}`);
      if (!kept) return "";
      const open = () => {
        kept.open = true;
        kept.querySelector("summary").focus();
        kept.scrollIntoView();
      };
      this.report.append(element("div", { className: "try-buttons" }, button(kept.dataset.offer, open)));
      return ` ${kept.dataset.told}`;
    }

    stop() {
      python.end({ stopped: true });
      this.editor.focus();
      if (python.packs) python.start().catch(() => {}); // so that the next run need not wait
    }

    async ask(what) {
      if (this.running || python.busy || !(await this.ready())) return;
      const met = what === "diary" ? (store.read("diary") ?? "").matchAll(/"exercise":"(\w+)"/g) : [];
      for (const id of new Set([...met].map(([, found]) => found))) {
        if (id in PACKS) await python.give(await exerciseOf(id)); // the messages that it shows
      }
      const { done, why } = await python.ask("ask", { what });
      if (!done) return this.tell(`This could not be shown (${why}).`);
      const passed = store.names().filter((name) => name.startsWith("code:") && store.passed(name.slice(5)));
      const before = element("p", { textContent: `Passed in this browser so far: ${passed.map((name) => name.slice(5)).join(", ") || "nothing yet"}.` });
      this.report.replaceChildren(...(what === "progress" ? [before] : []), cleaned(done));
      this.tell(what === "diary" ? "Your mistake diary is below." : "Your progress is below.");
      this.look(this.report);
    }

    hint() {
      const { hints } = this.about;
      this.level = (this.level % hints.length) + 1;
      const text = element("div");
      text.innerHTML = hints[this.level - 1]; // of the book itself
      this.hinted.replaceChildren(element("p", {}, element("strong", { textContent: `Hint ${this.level} of ${hints.length}` })), text);
      formulas(this.hinted);
      this.hints.textContent = this.level < hints.length ? "Next hint" : "First hint";
      this.tell(`Hint ${this.level} of ${hints.length} is below.`);
      this.look(this.hinted);
    }

    // --- the editor ---

    changed() {
      store.write(`code:${this.key}`, this.code);
      this.fit();
      if (!store.kept) this.tell("This browser keeps nothing beyond this page. Download the notebook or export your work before you leave.");
    }

    fit() {
      this.editor.rows = Math.min(30, Math.max(8, this.code.split("\n").length + 2));
    }

    key_(event) {
      const control = event.ctrlKey || event.metaKey;
      if (event.key === "Enter" && control) this.run();
      else if (event.key === "Enter" && !event.shiftKey && !event.altKey && !event.isComposing) this.newLine();
      else if (control && event.key === "]") this.indent((line) => (line ? `    ${line}` : line));
      else if (control && event.key === "[") this.indent((line) => line.replace(/^ {1,4}/, ""));
      else return;
      event.preventDefault();
    }

    // `insertText` keeps what Ctrl+Z needs.
    insert(text) {
      if (!document.execCommand("insertText", false, text)) this.editor.setRangeText(text, this.editor.selectionStart, this.editor.selectionEnd, "end");
      this.changed();
    }

    newLine() {
      const { value, selectionStart } = this.editor;
      const line = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart);
      this.insert(`\n${line.match(/^ */)[0]}${/:\s*(#.*)?$/.test(line) ? "    " : ""}`);
    }

    indent(change) {
      const { value, selectionStart, selectionEnd } = this.editor;
      const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
      const to = value.indexOf("\n", selectionEnd) < 0 ? value.length : value.indexOf("\n", selectionEnd);
      const old = value.slice(from, to);
      const changed = old.split("\n").map(change).join("\n");
      if (changed === old) return;
      this.editor.setSelectionRange(from, to);
      this.insert(changed);
      this.editor.setSelectionRange(from, from + changed.length);
      if (!old.includes("\n")) this.editor.setSelectionRange(Math.max(from, selectionStart + changed.length - old.length), Math.max(from, selectionEnd + changed.length - old.length));
    }

    // --- leaving the page with it ---

    reset() {
      if (!confirm(`Start over? What you wrote here for ${this.name} is deleted.`)) return;
      store.remove(`code:${this.key}`);
      store.remove(`passed:${this.key}`);
      this.editor.value = this.start;
      this.fit();
      this.report.replaceChildren();
      this.hinted.replaceChildren();
      this.tell("You can start over.");
    }

    // The released notebook, with what was written for its exercises in their cells.
    download() {
      const notebook = JSON.parse(textOf(this.exercise.files, "notebook.ipynb"));
      for (const cell of notebook.cells) {
        const { grade_id: id, solution } = cell.metadata.nbgrader ?? {};
        const code = id === this.key && this.code !== this.about.stub ? this.code : store.code(id);
        if (solution && code !== null && this.about.exercises.includes(id)) cell.source = code.trimEnd().split(/(?<=\n)/);
      }
      save(`${this.about.notebook}.ipynb`, `${JSON.stringify(notebook, null, 1)}\n`, "application/x-ipynb+json");
      const lacks = Object.keys(this.about.before).filter((name) => name in this.about.given && !store.passed(name));
      const more = lacks.length ? ` The given version of ${lacks.join(", ")} is not in it: write your own before you submit.` : "";
      const chapter = this.about.page.split("/")[1];
      const where = ` Move it to the folder exercises/${chapter}, in place of the notebook of that name, before you submit.`;
      this.tell(`${this.about.notebook}.ipynb is in your downloads, with all that you have written for it.${where}${more}`);
    }

    export_() {
      const work = Object.fromEntries(store.names().map((name) => [name, store.read(name)]));
      save("unrolled-work.json", `${JSON.stringify({ format: FORMAT, work }, null, 1)}\n`, "application/json");
      this.tell("unrolled-work.json is in your downloads.");
    }

    async bring(chooser) {
      const [file] = chooser.files;
      chooser.value = "";
      if (!file) return;
      if (python.busy) return this.tell("Something on this page is still running. Stop it first.");
      let work;
      try {
        if (file.size > LARGEST) throw new Error("too large");
        const found = JSON.parse(await file.text());
        if (found.format !== FORMAT) throw new Error("another format");
        work = Object.entries(found.work).filter(([name, text]) => /^(code:|passed:|diary$)/.test(name) && typeof text === "string");
      } catch {
        return this.tell("This is not a file of exported work. Choose unrolled-work.json, which Export all my work made.");
      }
      const replaced = work.filter(([name, text]) => name.startsWith("code:") && store.read(name) !== null && store.read(name) !== text);
      const names = replaced.map(([name]) => name.slice("code:".length)).join(", ");
      if (replaced.length && !confirm(`This replaces what you wrote here for ${names}. Import it?`)) return this.tell("Nothing was imported.");
      for (const [name, text] of work) {
        if (name !== "diary") store.write(name, text);
        else store.write(name, [...new Set(`${store.read(name) ?? ""}${text}`.split("\n").filter(Boolean))].sort().map((line) => `${line}\n`).join(""));
      }
      await python.started?.catch(() => {});
      python.end({ why: "work was imported" }); // the next one starts with the imported diary
      self.unrolledTry.panels.forEach((panel) => {
        panel.editor.value = store.code(panel.key) ?? panel.start;
        panel.fit();
      });
      this.tell(`Imported: what was written for ${counted(work.filter(([name]) => name.startsWith("code:")).length, "exercise")}.`);
    }
  }

  self.unrolledTry = {
    panels: [],
    python,
    limits: LIMITS,
    async open(box, at) {
      folder = at;
      if (!document.getElementById("try-style")) {
        document.head.append(element("link", { id: "try-style", rel: "stylesheet", href: new URL(`panel.css?v=${PACKS.style}`, folder) }));
      }
      const id = box.dataset.exercise;
      let exercise = null;
      let cell = null;
      try {
        if (id) exercise = await exerciseOf(id);
        else {
          const [pack, number] = box.dataset.scratch.split("/");
          cell = JSON.parse(textOf(await loadPack(pack), "page.json"))[number];
        }
      } catch (error) {
        box.querySelector(".try-here-told").textContent = `${error.message}. Is the connection there? Press the button again.`;
        return;
      }
      const panel = new Panel(box, exercise, cell);
      this.panels.push(panel);
      if (cell) await panel.run();
      else await panel.ready();
    },
  };
})();
