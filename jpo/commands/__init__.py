"""One file per command; they do not know each other. What several of them need stands in evidence, proposal and learning."""
