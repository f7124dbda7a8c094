-- Several teams in one PostgreSQL store: each has rows of its own, which no other team can read, replace, alter or delete.
--
-- Run it as the owner of the schema jpo, after jpo has made its tables (`jpo observe`), and again after an upgrade that changed
-- them. It may run as often as you like, and takes the same lock as jpo's writers.
--
--     psql -v ON_ERROR_STOP=1 -c "SET jpo.first_team = 'vision'" -f teams.sql DATABASE
--
-- jpo.first_team is who gets the rows that are there already; without it nobody does but the owner. A team is a role in jpo_teams,
-- and who works for it logs in as that role, or as one that turns into it:
--
--     CREATE ROLE vision NOLOGIN IN ROLE jpo_teams;
--     CREATE ROLE vision_ci LOGIN PASSWORD '...' IN ROLE vision;
--     ALTER ROLE vision_ci SET role TO vision;
--
-- The team of a row is the role that wrote it, so numbers, ids, agents and the audit log's chain are each team's own: two teams may
-- have a run of the same name, and neither learns from the other. The owner and superusers are no team: row-level security does
-- not hold for them. They migrate and back up, and do not run jpo's other commands, which would take all teams for one.

BEGIN;
SELECT pg_advisory_xact_lock(1246777137);  -- "JPO1", of jpo/history/postgres/transactions.py

DO $$
BEGIN
    CREATE ROLE jpo_teams NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

-- 1. Whose row it is.

DO $$
DECLARE
    name TEXT;
    first_team TEXT := coalesce(nullif(current_setting('jpo.first_team', true), ''), current_user);
BEGIN
    FOREACH name IN ARRAY ARRAY['suggestions', 'runs', 'series', 'watermarks', 'agents', 'audit'] LOOP
        EXECUTE format('ALTER TABLE jpo.%I ADD COLUMN IF NOT EXISTS team TEXT COLLATE "C" NOT NULL DEFAULT %L', name, first_team);
        EXECUTE format('ALTER TABLE jpo.%I ALTER COLUMN team SET DEFAULT current_user', name);
    END LOOP;
END $$;

-- 2. What is unique is unique within a team, so that nobody can take another team's id, number or agent.

ALTER TABLE jpo.series DROP CONSTRAINT IF EXISTS series_run_fkey, DROP CONSTRAINT IF EXISTS series_pkey;
ALTER TABLE jpo.runs DROP CONSTRAINT IF EXISTS runs_suggestion_id_fkey, DROP CONSTRAINT IF EXISTS runs_pkey;
ALTER TABLE jpo.suggestions DROP CONSTRAINT IF EXISTS suggestions_suggestion_id_key, DROP CONSTRAINT IF EXISTS suggestions_pkey;
ALTER TABLE jpo.audit DROP CONSTRAINT IF EXISTS audit_pkey;

ALTER TABLE jpo.suggestions
    ADD CONSTRAINT suggestions_pkey PRIMARY KEY (team, number),
    ADD CONSTRAINT suggestions_suggestion_id_key UNIQUE (team, suggestion_id);
ALTER TABLE jpo.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (team, number),
    ADD CONSTRAINT runs_suggestion_id_fkey FOREIGN KEY (team, suggestion_id) REFERENCES jpo.suggestions (team, suggestion_id);
ALTER TABLE jpo.series
    ADD CONSTRAINT series_pkey PRIMARY KEY (team, run, quantity),
    ADD CONSTRAINT series_run_fkey FOREIGN KEY (team, run) REFERENCES jpo.runs (team, number);
ALTER TABLE jpo.audit ADD CONSTRAINT audit_pkey PRIMARY KEY (team, number);

-- An index of jpo's becomes one that begins with the team; its other columns stay what this version of jpo made them.
DO $$
DECLARE
    name TEXT;
    definition TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['runs_are_recorded_once', 'watermarks_stand_once', 'agents_stand_once'] LOOP
        SELECT pg_get_indexdef(('jpo.' || name)::regclass) INTO definition;
        CONTINUE WHEN position('(hashtextextended(team' IN definition) > 0;
        EXECUTE format('DROP INDEX jpo.%I', name);
        EXECUTE regexp_replace(definition, 'USING btree \(', 'USING btree (hashtextextended(team, 0), ');
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION jpo.audit_grows_at_its_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number IS DISTINCT FROM (SELECT coalesce(max(number), 0) + 1 FROM jpo.audit WHERE team = NEW.team) THEN
        RAISE EXCEPTION 'the audit log grows at its end only' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

-- 3. A policy decides only with its release test on record: at the end of the transaction the log must name these very bytes.

CREATE OR REPLACE FUNCTION jpo.policy_is_on_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM jpo.audit
        WHERE team = NEW.team AND kind = 'tested' AND data::jsonb ->> 'file_digest' = encode(sha256(NEW.state), 'hex')
    ) THEN
        RAISE EXCEPTION 'no release test on record speaks of this policy' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS policy_is_on_record ON jpo.agents;
CREATE CONSTRAINT TRIGGER policy_is_on_record AFTER INSERT OR UPDATE ON jpo.agents
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.name = 'policy') EXECUTE FUNCTION jpo.policy_is_on_record();

-- 4. What a team may do: read and add its own rows, change what jpo changes, delete nothing but time series that are old.

REVOKE ALL ON SCHEMA jpo FROM PUBLIC, jpo_teams;
REVOKE ALL ON ALL TABLES IN SCHEMA jpo FROM PUBLIC, jpo_teams;
GRANT USAGE ON SCHEMA jpo TO jpo_teams;
GRANT SELECT ON jpo.schema_version TO jpo_teams;
GRANT SELECT, INSERT ON jpo.suggestions, jpo.runs, jpo.series, jpo.watermarks, jpo.agents, jpo.audit TO jpo_teams;
GRANT UPDATE ON jpo.runs, jpo.watermarks, jpo.agents TO jpo_teams;
GRANT UPDATE (withdrawn) ON jpo.suggestions TO jpo_teams;
GRANT DELETE ON jpo.series, jpo.runs TO jpo_teams;  -- jpo state gc

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['suggestions', 'runs', 'series', 'watermarks', 'agents', 'audit'] LOOP
        EXECUTE format('ALTER TABLE jpo.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('DROP POLICY IF EXISTS of_the_team ON jpo.%I', name);
        EXECUTE format(
            'CREATE POLICY of_the_team ON jpo.%I TO jpo_teams USING (team = current_user) WITH CHECK (team = current_user)', name
        );
    END LOOP;
END $$;

COMMIT;
