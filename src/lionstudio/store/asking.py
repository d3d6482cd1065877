"""Sessions in which a person is asked, as a condition on `session`."""

from lionstudio.domain.asking import ASKING_TOOLS, INTERACTIVE

# What `derive_activity` calls waiting for a person, as a question: an open call that asks one, a gate that one has to
# open, or an answer in front of somebody. Only running sessions are asked, of which there are few. Whether one is
# gone, so that it asks nobody any more, is judged outside of the database.
# PostgreSQL reads no member of JSON that has NUL or half a character anywhere in it; of that the text has to tell.
METADATA = "CAST(session.node_metadata AS text)"
IS_INTERACTIVE = f"""
    CASE WHEN {METADATA} NOT LIKE '%"{INTERACTIVE}":true%' THEN 'false'
         WHEN {METADATA} LIKE '%\\u0000%' ESCAPE '~' OR {METADATA} LIKE '%\\ud%' ESCAPE '~' THEN 'true'
         ELSE CAST(session.node_metadata -> '{INTERACTIVE}' AS text) END = 'true'
"""
TOOLS = ", ".join(f"'{tool}'" for tool in sorted(ASKING_TOOLS))
ASKS_A_PERSON = f"""
    session.is_running = 1 AND (
        EXISTS (SELECT 1 FROM branches AS line JOIN open_calls AS call ON call.branch_id = line.id
                 WHERE line.session_id = session.id AND call.tool IN ({TOOLS}))
        OR EXISTS (SELECT 1 FROM plays AS play
                    WHERE play.session_id = session.id AND play.status = 'gated' AND play.gate_passed IS NULL
                      AND session.show_topic IS NOT NULL)
        OR ({IS_INTERACTIVE}
            AND EXISTS (SELECT 1 FROM branches AS line
                         WHERE line.id = (SELECT first.id FROM branches AS first WHERE first.session_id = session.id
                                           ORDER BY first.created_at, first.id LIMIT 1)
                           AND line.last_kind = 'assistant'
                           AND NOT EXISTS (SELECT 1 FROM open_calls AS call WHERE call.branch_id = line.id))))
"""
