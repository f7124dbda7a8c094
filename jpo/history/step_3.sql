ALTER TABLE suggestions ADD COLUMN hardware TEXT NOT NULL DEFAULT ''

ALTER TABLE audit ADD COLUMN hardware TEXT NOT NULL DEFAULT ''

DROP INDEX suggestions_by_workload

CREATE INDEX suggestions_by_workload ON suggestions (dataset, model, framework, hardware, created_at, number)

CREATE TABLE runs_of_3 (
    number                        INTEGER PRIMARY KEY,
    dataset                       TEXT NOT NULL,
    model                         TEXT NOT NULL,
    framework                     TEXT NOT NULL,
    hardware                      TEXT NOT NULL DEFAULT '',
    run_id                        TEXT NOT NULL,
    status                        TEXT NOT NULL,
    source                        TEXT NOT NULL,
    started_at                    REAL,
    ended_at                      REAL NOT NULL,
    recorded_at                   REAL NOT NULL,
    suggestion_id                 TEXT REFERENCES suggestions (suggestion_id),
    parameters                    TEXT NOT NULL,
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
    cpu_cores_mean                REAL,
    cpu_cores_p95                 REAL,
    memory_mean_gib               REAL,
    memory_p95_gib                REAL,
    UNIQUE (dataset, model, framework, hardware, run_id)
) STRICT

INSERT INTO runs_of_3 SELECT
    number, dataset, model, framework, '', run_id, status, source, started_at, ended_at, recorded_at, suggestion_id,
    parameters, duration_seconds, cost_usd, energy_joules, samples, throughput_samples_per_second, train_loss, val_loss,
    gpu_utilisation, cpu_utilisation, memory_gib, gpu_memory_gib, converged, cpu_cores_mean, cpu_cores_p95,
    memory_mean_gib, memory_p95_gib
FROM runs

DROP TABLE runs

ALTER TABLE runs_of_3 RENAME TO runs

CREATE INDEX runs_by_end ON runs (dataset, model, framework, hardware, ended_at, number)

CREATE INDEX runs_by_suggestion ON runs (suggestion_id)

CREATE INDEX runs_by_id ON runs (run_id)

CREATE TABLE watermarks_of_3 (
    dataset    TEXT NOT NULL,
    model      TEXT NOT NULL,
    framework  TEXT NOT NULL,
    hardware   TEXT NOT NULL DEFAULT '',
    source     TEXT NOT NULL,
    read_until REAL NOT NULL CHECK (abs(read_until) < 1e12),
    PRIMARY KEY (dataset, model, framework, hardware, source)
) STRICT

INSERT INTO watermarks_of_3 SELECT dataset, model, framework, '', source, read_until FROM watermarks

DROP TABLE watermarks

ALTER TABLE watermarks_of_3 RENAME TO watermarks
