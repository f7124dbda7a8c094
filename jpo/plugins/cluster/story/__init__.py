"""`jpo cluster`: the story of each of its commands."""
