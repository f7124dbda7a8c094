CREATE TABLE suggestions (
    number        INTEGER PRIMARY KEY,
    suggestion_id TEXT NOT NULL UNIQUE,
    dataset       TEXT NOT NULL,
    model         TEXT NOT NULL,
    framework     TEXT NOT NULL,
    created_at    REAL NOT NULL,
    document      TEXT NOT NULL,  -- the whole suggestion with its forecasts, JSON
    withdrawn     INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1))  -- 1: config.ini never got its values
) STRICT

CREATE INDEX suggestions_by_workload ON suggestions (dataset, model, framework, created_at, number)

CREATE TABLE runs (
    number                        INTEGER PRIMARY KEY,
    dataset                       TEXT NOT NULL,
    model                         TEXT NOT NULL,
    framework                     TEXT NOT NULL,
    run_id                        TEXT NOT NULL,
    status                        TEXT NOT NULL,
    source                        TEXT NOT NULL,
    started_at                    REAL,           -- NULL here and below: not measured
    ended_at                      REAL NOT NULL,
    recorded_at                   REAL NOT NULL,
    suggestion_id                 TEXT REFERENCES suggestions (suggestion_id),
    parameters                    TEXT NOT NULL,  -- JSON: only what is known
    duration_seconds              REAL,
    cost_usd                      REAL,
    energy_joules                 REAL,
    samples                       REAL,
    throughput_samples_per_second REAL,
    train_loss                    REAL,
    val_loss                      REAL,
    gpu_utilisation               REAL,
    cpu_utilisation               REAL,
    memory_gib                    REAL,
    gpu_memory_gib                REAL,
    converged                     INTEGER CHECK (converged IN (0, 1)),
    UNIQUE (dataset, model, framework, run_id)
) STRICT

CREATE INDEX runs_by_end ON runs (dataset, model, framework, ended_at, number)

CREATE INDEX runs_by_suggestion ON runs (suggestion_id)

CREATE INDEX runs_by_id ON runs (run_id)

CREATE TABLE watermarks (
    dataset    TEXT NOT NULL,
    model      TEXT NOT NULL,
    framework  TEXT NOT NULL,
    source     TEXT NOT NULL,
    read_until REAL NOT NULL CHECK (abs(read_until) < 1e12),  -- infinity would hide every later run
    PRIMARY KEY (dataset, model, framework, source)
) STRICT

CREATE TABLE agents (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    state   BLOB NOT NULL
) STRICT

CREATE TABLE audit (
    number    INTEGER PRIMARY KEY,
    at        REAL NOT NULL,
    kind      TEXT NOT NULL,
    dataset   TEXT,
    model     TEXT,
    framework TEXT,
    data      TEXT NOT NULL,  -- JSON
    previous  TEXT NOT NULL,  -- hash of the record before
    hash      TEXT NOT NULL
) STRICT

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END

CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END

CREATE TRIGGER audit_grows_at_its_end BEFORE INSERT ON audit
WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM audit)
BEGIN SELECT RAISE(ABORT, 'the audit log grows at its end only'); END
