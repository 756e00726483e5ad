-- What people said. Votes are only ever added; undoing one marks it.

CREATE TABLE IF NOT EXISTS stage (
  stage INTEGER PRIMARY KEY,
  asked INTEGER NOT NULL  -- votes for each item
);

CREATE TABLE IF NOT EXISTS annotator (
  name TEXT NOT NULL UNIQUE  -- in the spelling of the first time
);

CREATE TABLE IF NOT EXISTS vote (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  stage INTEGER NOT NULL,
  key TEXT NOT NULL,
  id TEXT NOT NULL,
  annotator TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('keep', 'drop')),
  reasons TEXT NOT NULL,  -- JSON
  note TEXT NOT NULL,
  texts TEXT NOT NULL,  -- JSON, the corrected ones
  seconds REAL NOT NULL,
  made REAL NOT NULL,
  undone REAL,
  token TEXT NOT NULL UNIQUE  -- of the lease: the same decision sent twice is one vote
);
CREATE UNIQUE INDEX IF NOT EXISTS one_each ON vote (stage, key, annotator) WHERE undone IS NULL;
CREATE INDEX IF NOT EXISTS by_annotator ON vote (stage, annotator, number);

CREATE TABLE IF NOT EXISTS tally (
  stage INTEGER NOT NULL,
  key TEXT NOT NULL,
  keeps INTEGER NOT NULL DEFAULT 0,
  drops INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (stage, key)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS counted AFTER INSERT ON vote BEGIN
  INSERT OR IGNORE INTO tally (stage, key) VALUES (new.stage, new.key);
  UPDATE tally SET keeps = keeps + (new.verdict = 'keep'), drops = drops + (new.verdict = 'drop')
    WHERE stage = new.stage AND key = new.key;
END;
CREATE TRIGGER IF NOT EXISTS uncounted AFTER UPDATE OF undone ON vote WHEN old.undone IS NULL AND new.undone IS NOT NULL
BEGIN
  UPDATE tally SET keeps = keeps - (new.verdict = 'keep'), drops = drops - (new.verdict = 'drop')
    WHERE stage = new.stage AND key = new.key;
END;

CREATE TABLE IF NOT EXISTS lease (
  stage INTEGER NOT NULL,
  key TEXT NOT NULL,
  annotator TEXT NOT NULL,
  token TEXT NOT NULL,
  until REAL NOT NULL,
  PRIMARY KEY (stage, key, annotator)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS later (
  stage INTEGER NOT NULL,
  key TEXT NOT NULL,
  annotator TEXT NOT NULL,
  PRIMARY KEY (stage, key, annotator)
) WITHOUT ROWID;

-- The candidates as this process knows them.
CREATE TEMP TABLE item (
  place INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  id TEXT NOT NULL,
  category TEXT NOT NULL
);

-- Where every item stands in every stage it has reached: stage 2 has those that stage 1 keeps.
-- `missing` is the number of votes still to be cast; a tie asks for one more.
CREATE TEMP VIEW standing AS
SELECT
  stage.stage, item.place, item.key,
  coalesce(keeps, 0) AS keeps, coalesce(drops, 0) AS drops,
  CASE
    WHEN coalesce(keeps + drops, 0) < asked THEN asked - coalesce(keeps + drops, 0)
    WHEN keeps = drops THEN 1
    ELSE 0
  END AS missing
FROM stage JOIN item LEFT JOIN tally ON tally.stage = stage.stage AND tally.key = item.key
WHERE stage.stage = 1 OR item.key IN (
  SELECT key FROM tally JOIN stage USING (stage) WHERE stage = 1 AND keeps > drops AND keeps + drops >= asked);
