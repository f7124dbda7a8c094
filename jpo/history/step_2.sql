ALTER TABLE runs ADD COLUMN cpu_cores_mean REAL

ALTER TABLE runs ADD COLUMN cpu_cores_p95 REAL

ALTER TABLE runs ADD COLUMN memory_mean_gib REAL

ALTER TABLE runs ADD COLUMN memory_p95_gib REAL

ALTER TABLE suggestions ADD COLUMN status TEXT NOT NULL DEFAULT 'kept'

UPDATE suggestions SET status = coalesce(json_extract(document, '$.status'), 'kept') WHERE json_valid(document)

CREATE TABLE series (
    run      INTEGER NOT NULL REFERENCES runs (number),
    quantity TEXT NOT NULL,
    packed   BLOB NOT NULL,  -- times and values, packed (traces.py)
    PRIMARY KEY (run, quantity)
) STRICT
