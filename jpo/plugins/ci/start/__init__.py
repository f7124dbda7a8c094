"""What `jpo init` sets up: the texts of jpo.toml, .jpo/.gitignore and the pipeline's file, and how they are put in place.

settings_text.py  a commented jpo.toml that changes nothing of what JPO does without it
left_open.py      what config.ini leaves open, and the lines of jpo.toml that decide it
pipeline.py       the pipeline's file of GitLab or GitHub, from the templates in pipelines/
new_files.py      files that are made, and never replace one
"""
