"""linattn: linear-attention recurrences, compiled."""
