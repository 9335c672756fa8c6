// The keys of a clicker turn the slides of the deck around this page; all other keys belong to the explorable.
window.addEventListener("keydown", (event) => {
  const told = { PageDown: "unrolled:next", PageUp: "unrolled:previous" }[event.key];
  if (!told || window.parent === window) return;
  event.preventDefault();
  window.parent.postMessage(told, "*");
});
