-- Intervals strictly inside another interval: DURING takes the inner interval first, CONTAINS the
-- outer.
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

SELECT s.id AS s, 'during' AS relation, r.id AS r
FROM s JOIN r ON ALLEN_DURING(s.ts, s.te, r.ts, r.te)
ORDER BY s, r;

SELECT r.id AS r, 'contains' AS relation, s.id AS s
FROM r JOIN s ON ALLEN_CONTAINS(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;
