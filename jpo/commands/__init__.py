"""One file per command; they do not know each other. What several of them need is in project/, learning/ and optimizer/."""
