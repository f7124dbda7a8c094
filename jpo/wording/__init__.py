"""Numbers, names and phrases as people read them."""
