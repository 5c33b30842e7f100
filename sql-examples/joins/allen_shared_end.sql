-- Intervals with an endpoint in common: STARTS and STARTED_BY share the start, FINISHES and
-- FINISHED_BY the end, EQUALS both. The rows s3 and s4, which the other files do not have, give
-- matches for the first four.
--
--   0   1   2   3   4   5        [ts, te): includes the start, excludes the end
--   |r1-|
--       |--r2---|
--           |----r3-----|
--       |--s1---|
--               |s2-|
--           |s3-|
--                   |s4-|

CREATE OR REPLACE TEMPORARY VIEW r AS
SELECT * FROM VALUES ('r1', 0, 1), ('r2', 1, 3), ('r3', 2, 5) AS t(id, ts, te);

CREATE OR REPLACE TEMPORARY VIEW s AS
SELECT * FROM VALUES ('s1', 1, 3), ('s2', 3, 4), ('s3', 2, 3), ('s4', 4, 5) AS t(id, ts, te);

SELECT s.id AS s, 'starts' AS relation, r.id AS r
FROM s JOIN r ON ALLEN_STARTS(s.ts, s.te, r.ts, r.te)
ORDER BY s, r;

SELECT r.id AS r, 'started by' AS relation, s.id AS s
FROM r JOIN s ON ALLEN_STARTED_BY(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

SELECT s.id AS s, 'finishes' AS relation, r.id AS r
FROM s JOIN r ON ALLEN_FINISHES(s.ts, s.te, r.ts, r.te)
ORDER BY s, r;

SELECT r.id AS r, 'finished by' AS relation, s.id AS s
FROM r JOIN s ON ALLEN_FINISHED_BY(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

SELECT r.id AS r, 'equals' AS relation, s.id AS s
FROM r JOIN s ON ALLEN_EQUALS(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;
