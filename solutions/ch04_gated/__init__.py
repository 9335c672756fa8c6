"""Reference solutions of chapter 04, LSTM, GRU and deep networks."""
