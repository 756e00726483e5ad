-- Items that an annotator may be given: votes, and what others hold, leave room for one more.
-- Stage 2 has those that stage 1 keeps. :key asks for one item only, :later for what was put off (1) or not (0).

SELECT item.key
FROM item
  LEFT JOIN tally ON tally.stage = :stage AND tally.key = item.key
WHERE (:key IS NULL OR item.key = :key)
  AND NOT EXISTS (
    SELECT 1 FROM vote
    WHERE stage = :stage AND key = item.key AND annotator = :annotator AND undone IS NULL)
  AND NOT EXISTS (
    SELECT 1 FROM lease
    WHERE stage = :stage AND key = item.key AND annotator = :annotator AND until > :now)
  AND (:stage = 1 OR EXISTS (
    SELECT 1 FROM tally AS first JOIN stage ON stage.stage = 1
    WHERE first.stage = 1 AND first.key = item.key AND first.keeps > first.drops
      AND first.keeps + first.drops >= stage.asked))
  AND CASE
      WHEN coalesce(keeps + drops, 0) < (SELECT asked FROM stage WHERE stage = :stage)
        THEN (SELECT asked FROM stage WHERE stage = :stage)
      WHEN keeps = drops THEN keeps + drops + 1
      ELSE 0
    END > coalesce(keeps + drops, 0) + (
      SELECT count(*) FROM lease
      WHERE stage = :stage AND key = item.key AND annotator <> :annotator AND until > :now)
  AND EXISTS (
    SELECT 1 FROM later WHERE stage = :stage AND key = item.key AND annotator = :annotator) = :later
ORDER BY item.place
LIMIT :most
