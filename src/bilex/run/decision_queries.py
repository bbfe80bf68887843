"""The queries to a file of decisions."""
# ruff: noqa: S608 (the texts that are put together are all in this file)

COLUMNS = "id, source, suggestion, verdict, target, note, mark, reviewer, made, merged"
VALID = "coalesce(max(CASE WHEN NOT merged THEN id END), max(id))"
"""The valid one of several decisions on a pair: the last that was made here, else the last that was merged."""
CURRENT = f"""
SELECT {COLUMNS} FROM decisions WHERE id IN
(SELECT {VALID} FROM decisions WHERE NOT undone GROUP BY source, suggestion) ORDER BY id
"""
CHANGED = """
SELECT source, suggestion FROM decisions WHERE id > :last
UNION SELECT source, suggestion FROM decisions WHERE undone AND undone > :undo
"""
CURRENT_OF_CHANGED = f"""
SELECT {COLUMNS} FROM decisions WHERE id IN (
    SELECT (
        SELECT {VALID} FROM decisions AS own
        WHERE own.source = changed.source AND own.suggestion = changed.suggestion AND NOT own.undone
    ) FROM ({CHANGED}) AS changed
) ORDER BY id
"""
OF_REVIEWERS = f"""
SELECT {COLUMNS} FROM decisions WHERE id IN
(SELECT max(id) FROM decisions WHERE NOT undone GROUP BY source, suggestion, reviewer, merged) ORDER BY id
"""
INSERT = """
INSERT INTO decisions (source, suggestion, verdict, target, note, mark, reviewer, step, merged, made)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
"""
LAST = """
SELECT id, step FROM decisions
WHERE NOT undone AND (:reviewer IS NULL OR reviewer = :reviewer OR merged) ORDER BY id DESC LIMIT 1
"""
UNDO = f"""
UPDATE decisions SET undone = (SELECT coalesce(max(undone), 0) + 1 FROM decisions WHERE undone)
WHERE NOT undone AND id BETWEEN :first AND :last AND step = :step
RETURNING {COLUMNS}
"""
"""A step is the number of its first decision, or 0 if it has only one."""
HIGHEST = """
SELECT (SELECT coalesce(max(id), 0) FROM decisions), coalesce(max(undone), 0) FROM decisions WHERE undone
"""
