"""What people read where pipelines are: the note on a merge request, and what `jpo init` has set up."""
