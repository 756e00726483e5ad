-- Items that an annotator may be given: votes, and what others hold, leave room for one more.
-- :key asks for one item only, :later for what was put off (1) or not (0).

SELECT key FROM standing
WHERE stage = :stage
  AND (:key IS NULL OR key = :key)
  AND missing > (
    SELECT count(*) FROM lease
    WHERE stage = :stage AND key = standing.key AND annotator <> :annotator AND until > :now)
  AND NOT EXISTS (
    SELECT 1 FROM vote
    WHERE stage = :stage AND key = standing.key AND annotator = :annotator AND undone IS NULL)
  AND NOT EXISTS (
    SELECT 1 FROM lease
    WHERE stage = :stage AND key = standing.key AND annotator = :annotator AND until > :now)
  AND EXISTS (
    SELECT 1 FROM later WHERE stage = :stage AND key = standing.key AND annotator = :annotator) = :later
ORDER BY place
LIMIT :most
