// Python in a worker of the page. Everything that it needs arrives as bytes in messages, and it asks no host for anything.
"use strict";
const files = new Map();
let python, program, compiled;

// A page opened as a file cannot start module workers, and Pyodide refuses classic ones that have importScripts.
self.importScripts = () => {
  throw new Error("not available");
};
self.fetch = async (request) => {
  const name = String(request.url ?? request).split("/").pop();
  if (!files.has(name)) throw new Error(`${name} is not among the files`);
  const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(files.get(name), { headers: { "content-type": type } });
};
for (const name of ["XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "indexedDB", "caches", "BroadcastChannel"]) {
  Object.defineProperty(self, name, { value: undefined });
}
// The module that an earlier worker of this page has compiled is used again.
WebAssembly.instantiateStreaming = async (source, imports) => {
  compiled ??= await WebAssembly.compile(files.get("pyodide.asm.wasm"));
  return { module: compiled, instance: await WebAssembly.instantiate(compiled, imports) };
};

const imported = (name) => import(URL.createObjectURL(new Blob([files.get(name)], { type: "text/javascript" })));

function write(path, content) {
  const full = `/${path}`;
  python.FS.mkdirTree(full.slice(0, full.lastIndexOf("/")));
  python.FS.writeFile(full, content, { canOwn: true });
}

async function start({ packs, diary, module }) {
  compiled = module;
  const library = [];
  for (const [path, content] of packs) {
    if (path.includes("/")) library.push([path, content]);
    else files.set(path, content);
  }
  const { loadPyodide } = await imported("pyodide.mjs");
  const { default: createPyodideModule } = await imported("pyodide.asm.mjs");
  python = await loadPyodide({
    indexURL: "https://packs.invalid/", // never asked: `fetch` above answers
    createPyodideModule,
    lockFileContents: new TextDecoder().decode(files.get("pyodide-lock.json")),
    env: { HOME: "/home" },
  });
  for (const [path, content] of library) write(path, content);
  write("lib/python3.14/site-packages/in_page.py", files.get("in_page.py"));
  files.clear();
  program = python.pyimport("in_page");
  return { versions: JSON.parse(program.start(diary)), module: compiled };
}

onmessage = async ({ data: asked }) => {
  const { id, kind } = asked;
  try {
    if (kind === "start") postMessage({ id, done: await start(asked) });
    if (kind === "load") postMessage({ id, done: asked.files.forEach(([path, content]) => write(path, content)) });
    if (kind === "run") postMessage({ id, done: JSON.parse(program.run(asked.request, (text) => postMessage({ id, text }))) });
    if (kind === "ask") postMessage({ id, done: program.ask(asked.what) });
  } catch (error) {
    postMessage({ id, failed: String(error?.message ?? error) });
  }
};
