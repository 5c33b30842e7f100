-- Intervals that overlap partly: the interval that starts first OVERLAPS, the other interval is
-- OVERLAPPED_BY. For any common point in time, see INTERVAL_INTERSECTS in sessions_outages.sql.
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

SELECT s.id AS s, 'overlaps' AS relation, r.id AS r
FROM s JOIN r ON ALLEN_OVERLAPS(s.ts, s.te, r.ts, r.te)
ORDER BY s, r;

SELECT r.id AS r, 'overlapped by' AS relation, s.id AS s
FROM r JOIN s ON ALLEN_OVERLAPPED_BY(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;
