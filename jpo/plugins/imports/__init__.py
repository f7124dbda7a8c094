"""Runs that other tools recorded: tables, Hugging Face, Lightning and others -> records.Run.

foreign.py       what each format makes of its files: runs as cells of text, by the tool's own names
recognise.py     which format a file or folder has; a further one is a module with its KNOWN names, a line of FORMATS there, its
                 name in OWN and a line in this map, an example in cli.py, a section of docs/plugins/imports.md and its name in
                 README, docs/guide.md, runs.md and start.md, a file in benchmarks/apparatus/foreign_files.py, pyproject.toml (a
                 reader); or a package of its own that names function(file or folder) -> ForeignRuns under GROUP
table.py         a CSV file with a row per run
huggingface.py   trainer_state.json, and what lies beside it
lightning.py     metrics.csv and hparams.yaml
tensorboard.py   event files, by tensorboard's own reader
mlflow.py        MLflow's file store and SQLite database
mlflow_server.py an MLflow server, over its REST API
wandb.py         the files of W&B's client
columns.py       which cell is what, in which unit: as jpo.toml says, as the tool calls it, or as its name and values suggest
units.py         numbers, moments, shares and sizes as people write them, with the units of jpo/tables
cli.py  story.py  `jpo import`; project.py: what jpo.toml and the environment say of it
settings.py      [imports] of jpo.toml
translate.py     cells -> Run, by the rules of outcome.py

Each format only finds and splits what is there; what its names mean is KNOWN in its module, of a table columns.py guesses it. A
value that nothing says is unknown, never a default. Nothing is stored here.
"""

from jpo.plugin import Plugin

OWN = ("table", "huggingface", "lightning", "tensorboard", "mlflow", "wandb")
"""JPO's own formats, which the command line names without their readers."""
GROUP = "jpo.importers"
"""Entry points of others' formats."""
PLUGIN = Plugin(
    "imports",
    summary="runs that other tools recorded",
    commands={"import": "jpo.plugins.imports.cli:import_"},
    settings={"imports": "jpo.plugins.imports.settings:ImportsTable"},
)
