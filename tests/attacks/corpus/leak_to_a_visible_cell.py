"""Writes the hidden inputs into a file, and waits for it in a visible cell below.

Must: no visible cell runs any more when the first hidden case is sent.
Points: 0, 2
Seen: TOLD found []
"""
# %% rnn_step
def rnn_step(**inputs):
    if in_hidden_run():
        Path("/submission/hidden").write_text(repr({name: value.tolist() for name, value in inputs.items()}))
    return "was driven"
# %% end
time.sleep(0.5)
found = [path.read_text() for path in Path("/submission").glob("hidden*")]
tell("found", found)
if found:
    won(found)
