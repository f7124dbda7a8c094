CREATE TABLE suggestions (
    number        BIGINT PRIMARY KEY,
    suggestion_id TEXT COLLATE "C" NOT NULL UNIQUE,
    dataset       TEXT COLLATE "C" NOT NULL,
    model         TEXT COLLATE "C" NOT NULL,
    framework     TEXT COLLATE "C" NOT NULL,
    created_at    DOUBLE PRECISION NOT NULL,
    status        TEXT NOT NULL,
    document      TEXT NOT NULL,
    withdrawn     INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1))
)

CREATE INDEX suggestions_by_time ON suggestions (created_at, number)

CREATE TABLE runs (
    number                        BIGINT PRIMARY KEY,
    dataset                       TEXT COLLATE "C" NOT NULL,
    model                         TEXT COLLATE "C" NOT NULL,
    framework                     TEXT COLLATE "C" NOT NULL,
    run_id                        TEXT COLLATE "C" NOT NULL,
    status                        TEXT NOT NULL,
    source                        TEXT NOT NULL,
    started_at                    DOUBLE PRECISION,
    ended_at                      DOUBLE PRECISION NOT NULL,
    recorded_at                   DOUBLE PRECISION NOT NULL,
    suggestion_id                 TEXT COLLATE "C" REFERENCES suggestions (suggestion_id),
    parameters                    TEXT NOT NULL,
    duration_seconds              DOUBLE PRECISION,
    cost_usd                      DOUBLE PRECISION,
    energy_joules                 DOUBLE PRECISION,
    samples                       DOUBLE PRECISION,
    throughput_samples_per_second DOUBLE PRECISION,
    train_loss                    DOUBLE PRECISION,
    val_loss                      DOUBLE PRECISION,
    gpu_utilisation               DOUBLE PRECISION,
    cpu_utilisation               DOUBLE PRECISION,
    memory_gib                    DOUBLE PRECISION,
    gpu_memory_gib                DOUBLE PRECISION,
    cpu_cores_mean                DOUBLE PRECISION,
    cpu_cores_p95                 DOUBLE PRECISION,
    memory_mean_gib               DOUBLE PRECISION,
    memory_p95_gib                DOUBLE PRECISION,
    converged                     INTEGER CHECK (converged IN (0, 1))
)

CREATE UNIQUE INDEX runs_are_recorded_once ON runs (
    hashtextextended(dataset, 0), hashtextextended(model, 0), hashtextextended(framework, 0), hashtextextended(run_id, 0)
)

CREATE INDEX runs_by_id ON runs USING hash (run_id)

CREATE INDEX runs_by_suggestion ON runs (suggestion_id)

CREATE INDEX runs_by_end ON runs (ended_at, number)

CREATE TABLE series (
    run      BIGINT NOT NULL REFERENCES runs (number),
    quantity TEXT COLLATE "C" NOT NULL,
    packed   BYTEA NOT NULL,
    PRIMARY KEY (run, quantity)
)

CREATE TABLE watermarks (
    dataset    TEXT COLLATE "C" NOT NULL,
    model      TEXT COLLATE "C" NOT NULL,
    framework  TEXT COLLATE "C" NOT NULL,
    source     TEXT COLLATE "C" NOT NULL,
    read_until DOUBLE PRECISION NOT NULL CHECK (abs(read_until) < 1e12)
)

CREATE UNIQUE INDEX watermarks_stand_once ON watermarks (
    hashtextextended(dataset, 0), hashtextextended(model, 0), hashtextextended(framework, 0), hashtextextended(source, 0)
)

CREATE TABLE agents (
    name    TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    state   BYTEA NOT NULL
)

CREATE UNIQUE INDEX agents_stand_once ON agents (hashtextextended(name, 0), hashtextextended(name, 1))

CREATE TABLE audit (
    number    BIGINT PRIMARY KEY,
    at        DOUBLE PRECISION NOT NULL,
    kind      TEXT NOT NULL,
    dataset   TEXT,
    model     TEXT,
    framework TEXT,
    data      TEXT NOT NULL,
    previous  TEXT NOT NULL,
    hash      TEXT NOT NULL
)

CREATE FUNCTION jpo.audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'integrity_constraint_violation'; END $$

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()

CREATE FUNCTION jpo.audit_grows_at_its_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number IS DISTINCT FROM (SELECT coalesce(max(number), 0) + 1 FROM jpo.audit) THEN
        RAISE EXCEPTION 'the audit log grows at its end only' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$

CREATE TRIGGER audit_grows_at_its_end BEFORE INSERT ON audit
FOR EACH ROW EXECUTE FUNCTION audit_grows_at_its_end()
