-- The same schema as sqlite/0001_initial.sql. Times are double precision (REAL is float4 here); JSON is json, because
-- jsonb refuses NUL and lone surrogates; embeddings are real[], float32 as everywhere and ready for pgvector.

CREATE TABLE schema_meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE message_types (
    type_id    bigint PRIMARY KEY,
    lion_class TEXT    NOT NULL UNIQUE
);
INSERT INTO message_types (type_id, lion_class) VALUES
    (0, '__unknown__'),
    (1, 'lionagi.protocols.messages.system.System'),
    (2, 'lionagi.protocols.messages.instruction.Instruction'),
    (3, 'lionagi.protocols.messages.assistant_response.AssistantResponse'),
    (4, 'lionagi.protocols.messages.action_request.ActionRequest'),
    (5, 'lionagi.protocols.messages.action_response.ActionResponse');

CREATE TABLE messages (
    id            TEXT    PRIMARY KEY,
    created_at    double precision    NOT NULL,
    node_metadata json,
    content       json    NOT NULL,
    embedding     real[],
    sender        TEXT,
    recipient     TEXT,
    channel       TEXT,
    role          TEXT    NOT NULL,
    lion_class    bigint NOT NULL DEFAULT 0 REFERENCES message_types (type_id)
);
CREATE INDEX ix_messages__embedded ON messages (id) WHERE embedding IS NOT NULL;

-- D1: order is rows; the view at the end gives the JSON array of R14.
CREATE TABLE progression_heads (
    id         TEXT    PRIMARY KEY,
    created_at double precision    NOT NULL,
    length     bigint NOT NULL DEFAULT 0 CHECK (length >= 0)
);

CREATE TABLE progression_entries (
    progression_id TEXT    NOT NULL REFERENCES progression_heads (id) ON DELETE CASCADE,
    position       bigint NOT NULL CHECK (position >= 1),
    message_id     TEXT    NOT NULL REFERENCES messages (id),
    PRIMARY KEY (progression_id, position)
);
CREATE INDEX ix_progression_entries__message_id ON progression_entries (message_id);

-- No index holds a column that every append changes (updated_at, last_message_at, last_msg_id).
CREATE TABLE sessions (
    id                TEXT    COLLATE "C" PRIMARY KEY,
    created_at        double precision    NOT NULL,
    updated_at        double precision    NOT NULL,
    node_metadata     json,
    name              TEXT,
    "user"            TEXT,
    progression_id    TEXT    NOT NULL REFERENCES progression_heads (id),
    first_msg_id      TEXT,
    last_msg_id       TEXT,
    last_message_at   double precision,
    messages_lost     bigint NOT NULL DEFAULT 0,
    status            TEXT    CHECK (status IN ('running', 'completed', 'failed', 'timed_out', 'aborted', 'cancelled')),
    is_running        bigint NOT NULL GENERATED ALWAYS AS (CASE WHEN status = 'running' THEN 1 ELSE 0 END) STORED,
    started_at        double precision,
    ended_at          double precision,
    exit_code         bigint,
    end_actor         TEXT,
    end_reason        TEXT,
    invocation_kind   TEXT    CHECK (invocation_kind IN ('agent', 'play', 'flow', 'fanout', 'show-play', 'command')),
    source_kind       TEXT    CHECK (source_kind IN
                        ('live', 'imported_fs', 'imported_db', 'imported_claude', 'imported_codex', 'demo')),
    playbook_name     TEXT,
    agent_name        TEXT,
    show_topic        TEXT,
    show_play_name    TEXT,
    artifacts_path    TEXT,
    parent_session_id TEXT    COLLATE "C" REFERENCES sessions (id) ON DELETE SET NULL
);
-- "Running first, then newest" is the order of every list, so every filter is an index in that order.
CREATE INDEX ix_sessions__active ON sessions (is_running, created_at, id);
CREATE INDEX ix_sessions__status ON sessions (status, created_at, id);
CREATE INDEX ix_sessions__invocation_kind ON sessions (invocation_kind, is_running, created_at, id)
    WHERE invocation_kind IS NOT NULL;
CREATE INDEX ix_sessions__source_kind ON sessions (source_kind, is_running, created_at, id)
    WHERE source_kind IS NOT NULL;
CREATE INDEX ix_sessions__playbook_name ON sessions (playbook_name, is_running, created_at, id)
    WHERE playbook_name IS NOT NULL;
CREATE INDEX ix_sessions__agent_name ON sessions (agent_name, is_running, created_at, id) WHERE agent_name IS NOT NULL;
CREATE INDEX ix_sessions__show_topic ON sessions (show_topic, is_running, created_at, id) WHERE show_topic IS NOT NULL;
-- In the order of lists by end; with all that the dashboard says about the runs of the last day.
CREATE INDEX ix_sessions__ended_at ON sessions (ended_at, id, status, started_at) WHERE ended_at IS NOT NULL;
-- What the last day brought, for the views of that name; with all that is needed to choose the newest among them.
CREATE INDEX ix_sessions__failed ON sessions (status, ended_at, created_at, id) WHERE status IN ('failed', 'timed_out');
CREATE INDEX ix_sessions__over_60m ON sessions (ended_at, started_at, created_at, id)
    WHERE ended_at - started_at > 3600 AND status <> 'running';
CREATE INDEX ix_sessions__not_ended ON sessions (created_at, id) WHERE ended_at IS NULL;
CREATE INDEX ix_sessions__name ON sessions (name, created_at) WHERE name IS NOT NULL;
CREATE INDEX ix_sessions__progression_id ON sessions (progression_id);
CREATE INDEX ix_sessions__parent_session_id ON sessions (parent_session_id) WHERE parent_session_id IS NOT NULL;

-- One row a word of a session's names: the word-prefix search of the list.
CREATE TABLE session_words (
    word       TEXT COLLATE "C" NOT NULL,
    created_at double precision NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    PRIMARY KEY (word, created_at, session_id)
);
CREATE INDEX ix_session_words__session_id ON session_words (session_id, word);

CREATE TABLE branches (
    id               TEXT    PRIMARY KEY,
    created_at       double precision    NOT NULL,
    node_metadata    json,
    "user"           TEXT,
    name             TEXT,
    session_id       TEXT    COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    progression_id   TEXT    NOT NULL REFERENCES progression_heads (id),
    system_msg_id    TEXT    REFERENCES messages (id),
    parent_branch_id TEXT    REFERENCES branches (id),
    forked_at_ord    bigint CHECK (forked_at_ord >= 0),
    last_kind        TEXT    CHECK (last_kind IN ('system', 'user', 'assistant', 'tool_call', 'tool_result', 'other')),
    last_tool        TEXT,
    last_at          double precision,
    CHECK ((parent_branch_id IS NULL) = (forked_at_ord IS NULL))
);
CREATE INDEX ix_branches__session_id ON branches (session_id, created_at, id);
CREATE INDEX ix_branches__progression_id ON branches (progression_id);
CREATE INDEX ix_branches__parent_branch_id ON branches (parent_branch_id) WHERE parent_branch_id IS NOT NULL;
CREATE INDEX ix_branches__system_msg_id ON branches (system_msg_id) WHERE system_msg_id IS NOT NULL;

-- D5: tool calls that have no result yet.
CREATE TABLE open_calls (
    branch_id TEXT NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
    call_id   TEXT NOT NULL,
    tool      TEXT,
    since     double precision NOT NULL,
    PRIMARY KEY (branch_id, call_id)
);

-- R8: messages between sessions, numbered in the order they were committed.
CREATE TABLE exchange (
    seq        bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    message_id TEXT NOT NULL UNIQUE REFERENCES messages (id),
    sender     TEXT,
    recipient  TEXT NOT NULL,
    channel    TEXT
);
CREATE INDEX ix_exchange__recipient ON exchange (recipient, seq);
CREATE INDEX ix_exchange__sender ON exchange (sender, seq) WHERE sender IS NOT NULL;

CREATE TABLE session_processes (
    session_id    TEXT    COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    role          TEXT    NOT NULL CHECK (role IN ('agent', 'recorder')),
    host          TEXT,
    boot_id       TEXT,
    pid_namespace TEXT,
    pid           bigint NOT NULL,
    start_time    bigint,
    pgid          bigint,
    owns_group    bigint NOT NULL DEFAULT 0 CHECK (owns_group IN (0, 1)),
    command       TEXT,
    heartbeat_at  double precision,
    PRIMARY KEY (session_id, role)
);

CREATE TABLE session_evidence (
    session_id         TEXT    COLLATE "C" PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    session_created_at double precision    NOT NULL,
    observed_at        double precision    NOT NULL,
    process            TEXT    NOT NULL CHECK (process IN ('alive', 'dead', 'unknown')),
    process_sentence   TEXT    NOT NULL,
    has_artifacts      bigint CHECK (has_artifacts IN (0, 1)),
    stale_locks        json    NOT NULL DEFAULT '[]',
    temp_files         json    NOT NULL DEFAULT '[]',
    leftovers          bigint NOT NULL DEFAULT 0,
    health             TEXT    NOT NULL CHECK (health IN
                         ('healthy', 'idle', 'unresponsive', 'stale', 'orphaned', 'zombie'))
);
CREATE INDEX ix_session_evidence__leftovers ON session_evidence (session_created_at, session_id) WHERE leftovers > 0;

CREATE TABLE session_usage (
    session_id         TEXT    COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    model              TEXT    NOT NULL,
    input_tokens       bigint NOT NULL DEFAULT 0,
    cache_read_tokens  bigint NOT NULL DEFAULT 0,
    cache_write_tokens bigint NOT NULL DEFAULT 0,
    output_tokens      bigint NOT NULL DEFAULT 0,
    reasoning_tokens   bigint NOT NULL DEFAULT 0,
    cost_usd           double precision,
    PRIMARY KEY (session_id, model)
);

CREATE TABLE shows (
    id                 TEXT PRIMARY KEY,
    topic              TEXT NOT NULL UNIQUE,
    goal               TEXT,
    repo               TEXT,
    base_branch        TEXT,
    integration_branch TEXT,
    status             TEXT NOT NULL DEFAULT 'active'
                         CHECK (status IN ('active', 'completed', 'aborted', 'imported')),
    status_source      TEXT CHECK (status_source IN ('sqlite', 'filesystem')),
    show_dir           TEXT NOT NULL,
    created_at         double precision NOT NULL,
    updated_at         double precision NOT NULL
);
CREATE INDEX ix_shows__status ON shows (status, created_at, id);
CREATE INDEX ix_shows__updated_at ON shows (updated_at);

CREATE TABLE plays (
    id            TEXT    PRIMARY KEY,
    show_id       TEXT    NOT NULL REFERENCES shows (id) ON DELETE CASCADE,
    name          TEXT    NOT NULL,
    playbook      TEXT,
    effort        TEXT,
    status        TEXT    NOT NULL DEFAULT 'pending' CHECK (status IN
                    ('pending', 'prepared', 'running', 'running_complete', 'gated', 'gate_failed', 'redoing',
                     'merged', 'escalated', 'blocked', 'aborted_after_finish')),
    attempt       bigint NOT NULL DEFAULT 1 CHECK (attempt >= 1),
    session_id    TEXT    COLLATE "C" REFERENCES sessions (id),
    started_at    double precision,
    ended_at      double precision,
    exit_code     bigint,
    worktree      TEXT,
    branch        TEXT,
    merge_sha     TEXT,
    merged_at     double precision,
    gate_passed   bigint CHECK (gate_passed IN (0, 1)),
    gate_feedback TEXT,
    depends_on    json    NOT NULL DEFAULT '[]',
    sort_order    bigint NOT NULL DEFAULT 0,
    created_at    double precision    NOT NULL,
    updated_at    double precision    NOT NULL
);
CREATE UNIQUE INDEX ix_plays__show_id_name ON plays (show_id, name);
CREATE INDEX ix_plays__show_id ON plays (show_id, sort_order, name);
CREATE INDEX ix_plays__status ON plays (status);
CREATE INDEX ix_plays__session_id ON plays (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE teams (
    id            TEXT    PRIMARY KEY,
    name          TEXT    NOT NULL,
    created_at    double precision    NOT NULL,
    updated_at    double precision    NOT NULL,
    member_count  bigint NOT NULL DEFAULT 0,
    members       json    NOT NULL DEFAULT '[]',
    node_metadata json,
    status        TEXT    NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived'))
);
CREATE INDEX ix_teams__name ON teams (name);
CREATE INDEX ix_teams__updated_at ON teams (updated_at);
CREATE INDEX ix_teams__status ON teams (status);

CREATE TABLE team_messages (
    id            TEXT PRIMARY KEY,
    team_id       TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    created_at    double precision NOT NULL,
    sender        TEXT NOT NULL,
    recipient     TEXT NOT NULL DEFAULT 'all',
    content       TEXT NOT NULL,
    summary       TEXT,
    read_by       json NOT NULL DEFAULT '[]',
    session_id    TEXT COLLATE "C" REFERENCES sessions (id) ON DELETE SET NULL,
    node_metadata json
);
CREATE INDEX ix_team_messages__team_id ON team_messages (team_id, created_at, id);
CREATE INDEX ix_team_messages__created_at ON team_messages (created_at);
CREATE INDEX ix_team_messages__session_id ON team_messages (session_id) WHERE session_id IS NOT NULL;

-- News. The newest row is never deleted, so a seq is never given twice.
CREATE TABLE changes (
    seq        bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at         double precision NOT NULL,
    topic      TEXT NOT NULL,
    entity_id  TEXT NOT NULL,
    session_id TEXT
);
CREATE INDEX ix_changes__session_id ON changes (session_id, seq);

-- History outlives what it describes: no foreign keys, and triggers refuse to change it.
CREATE TABLE admin_events (
    id         TEXT PRIMARY KEY,
    created_at double precision NOT NULL,
    action     TEXT NOT NULL,
    target_id  TEXT,
    details    json NOT NULL,
    actor      TEXT NOT NULL DEFAULT 'admin'
);
CREATE INDEX ix_admin_events__created_at ON admin_events (created_at, id);
CREATE INDEX ix_admin_events__action ON admin_events (action, created_at, id);
CREATE INDEX ix_admin_events__actor ON admin_events (actor, created_at, id);
CREATE INDEX ix_admin_events__target_id ON admin_events (target_id, created_at) WHERE target_id IS NOT NULL;

CREATE TABLE status_transitions (
    id          TEXT PRIMARY KEY,
    entity      TEXT NOT NULL CHECK (entity IN ('session', 'play', 'show', 'team')),
    entity_id   TEXT NOT NULL,
    from_status TEXT,
    to_status   TEXT,
    at          double precision NOT NULL,
    actor       TEXT NOT NULL,
    reason_code TEXT,
    sentence    TEXT,
    evidence    json
);
CREATE INDEX ix_status_transitions__entity ON status_transitions (entity, entity_id, at);

CREATE FUNCTION refuse_to_change_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'LS001';
END
$$;
CREATE FUNCTION keep_recent_admin_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.created_at < extract(epoch FROM now()) - 2592000 AND OLD.created_at < COALESCE(
        (SELECT created_at FROM admin_events ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET 999), OLD.created_at)
    THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'LS001';
END
$$;
CREATE TRIGGER tr_admin_events__no_update BEFORE UPDATE ON admin_events
    FOR EACH ROW EXECUTE FUNCTION refuse_to_change_history();
CREATE TRIGGER tr_admin_events__no_delete BEFORE DELETE ON admin_events
    FOR EACH ROW EXECUTE FUNCTION keep_recent_admin_events();
CREATE TRIGGER tr_admin_events__no_truncate BEFORE TRUNCATE ON admin_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_history();
CREATE TRIGGER tr_status_transitions__no_update BEFORE UPDATE ON status_transitions
    FOR EACH ROW EXECUTE FUNCTION refuse_to_change_history();
CREATE TRIGGER tr_status_transitions__no_delete BEFORE DELETE ON status_transitions
    FOR EACH ROW EXECUTE FUNCTION refuse_to_change_history();
CREATE TRIGGER tr_status_transitions__no_truncate BEFORE TRUNCATE ON status_transitions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_history();

CREATE VIEW progressions AS
SELECT head.id,
       head.created_at,
       COALESCE((SELECT json_agg(entry.message_id ORDER BY entry.position)
                   FROM progression_entries AS entry
                  WHERE entry.progression_id = head.id), '[]'::json) AS collection
  FROM progression_heads AS head;
