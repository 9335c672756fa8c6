// The same Python as in a page, under Node: `node in_node.mjs FOLDER` loads the packs of a folder, then answers each line
// of JSON on standard input with one on standard output. The book's build compiles modules with it, and tests ask it;
// these name a second folder, which they find as /course.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [folder, course] = process.argv.slice(2);

function loadPack(name) {
  const pattern = new RegExp(`^${name}(-\\d+)?\\.js$`);
  const files = fs.readdirSync(folder).filter((file) => pattern.test(file)).sort();
  const text = files.map((file) => fs.readFileSync(path.join(folder, file), "utf-8").split('"]="')[1].split('";')[0]).join("");
  const whole = gunzipSync(Buffer.from(text, "base64"));
  const line = whole.indexOf(10);
  let at = line + 1;
  return JSON.parse(whole.subarray(0, line)).map(([name, size]) => [name, new Uint8Array(whole.subarray(at, (at += size)))]);
}

const temporary = fs.mkdtempSync(path.join(os.tmpdir(), "try-here-"));
process.on("exit", () => fs.rmSync(temporary, { recursive: true, force: true }));
const packs = [...loadPack("python"), ...loadPack("grader")];
for (const [name, content] of packs) if (!name.includes("/")) fs.writeFileSync(path.join(temporary, name), content);

const { loadPyodide } = await import(pathToFileURL(path.join(temporary, "pyodide.mjs")));
const python = await loadPyodide({ indexURL: `${temporary}/`, env: { HOME: "/home", PYTHONHASHSEED: "0" } });

function write([name, content]) {
  const full = `/${name}`;
  python.FS.mkdirTree(path.posix.dirname(full));
  python.FS.writeFile(full, content);
}

packs.filter(([name]) => name.includes("/")).forEach(write);
write(["lib/python3.14/site-packages/in_page.py", fs.readFileSync(path.join(temporary, "in_page.py"))]);
if (course) {
  python.FS.mkdir("/course");
  python.FS.mount(python.FS.filesystems.NODEFS, { root: course }, "/course");
}
const program = python.pyimport("in_page");
program.start("");

function answer(asked) {
  if (asked.load) loadPack(asked.load).filter(([name]) => name.includes("/")).forEach(write);
  if (asked.run) {
    const printed = [];
    const told = JSON.parse(program.run(JSON.stringify(asked.run), (text) => printed.push(text)));
    return { ...told, printed: printed.join("") };
  }
  if (asked.python) return python.runPython(asked.python) ?? null;
  return true;
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
}
