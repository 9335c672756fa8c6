"""Reference solutions of chapter 06, a preview of attention."""
