"""Reference solutions, one package a chapter: for pages, tests and experiments, never for students."""
