-- Which of Allen's thirteen relations is true for two intervals? Exactly one, unless an interval is
-- empty.
--
--   0   1   2   3   4   5        [ts, te): includes the start, excludes the end
--   |r1-|
--       |--r2---|
--           |----r3-----|
--       |--s1---|
--               |s2-|

CREATE OR REPLACE TEMPORARY VIEW r AS
SELECT * FROM VALUES ('r1', 0, 1), ('r2', 1, 3), ('r3', 2, 5) AS t(id, ts, te);

CREATE OR REPLACE TEMPORARY VIEW s AS
SELECT * FROM VALUES ('s1', 1, 3), ('s2', 3, 4) AS t(id, ts, te);

-- Spark's own join: the query needs all pairs. The functions are ordinary Boolean expressions.
SELECT r.id AS r, s.id AS s,
  CASE
    WHEN ALLEN_BEFORE(r.ts, r.te, s.ts, s.te) THEN 'before'
    WHEN ALLEN_AFTER(r.ts, r.te, s.ts, s.te) THEN 'after'
    WHEN ALLEN_MEETS(r.ts, r.te, s.ts, s.te) THEN 'meets'
    WHEN ALLEN_MET_BY(r.ts, r.te, s.ts, s.te) THEN 'met by'
    WHEN ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te) THEN 'overlaps'
    WHEN ALLEN_OVERLAPPED_BY(r.ts, r.te, s.ts, s.te) THEN 'overlapped by'
    WHEN ALLEN_STARTS(r.ts, r.te, s.ts, s.te) THEN 'starts'
    WHEN ALLEN_STARTED_BY(r.ts, r.te, s.ts, s.te) THEN 'started by'
    WHEN ALLEN_DURING(r.ts, r.te, s.ts, s.te) THEN 'during'
    WHEN ALLEN_CONTAINS(r.ts, r.te, s.ts, s.te) THEN 'contains'
    WHEN ALLEN_FINISHES(r.ts, r.te, s.ts, s.te) THEN 'finishes'
    WHEN ALLEN_FINISHED_BY(r.ts, r.te, s.ts, s.te) THEN 'finished by'
    WHEN ALLEN_EQUALS(r.ts, r.te, s.ts, s.te) THEN 'equals'
  END AS relation
FROM r CROSS JOIN s
ORDER BY r, s;
