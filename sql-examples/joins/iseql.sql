-- ISEQL's relations are wider than Allen's (endpoints may tie). The optional parameters delta and
-- epsilon limit the distance of the starts and of the ends.
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

-- r ends before s starts, or at the same time.
SELECT r.id AS r, 'before' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_BEFORE(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

-- The same, with a distance of at most 1.
SELECT r.id AS r, 'before, by 1 at most' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_BEFORE(r.ts, r.te, s.ts, s.te, delta => 1)
ORDER BY r, s;

SELECT s.id AS s, 'after, by 1 at most' AS relation, r.id AS r
FROM s JOIN r ON ISEQL_AFTER(s.ts, s.te, r.ts, r.te, delta => 1)
ORDER BY s, r;

-- s starts while r lasts.
SELECT r.id AS r, 'start preceding' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_START_PRECEDING(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

SELECT r.id AS r, 'start preceding, by 0 at most' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_START_PRECEDING(r.ts, r.te, s.ts, s.te, delta => 0)
ORDER BY r, s;

-- The same with the operands swapped: r starts while s lasts.
SELECT r.id AS r, 'reverse start preceding' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_REVERSE_START_PRECEDING(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

-- s ends while r lasts, or at the end of r.
SELECT r.id AS r, 'end following' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_END_FOLLOWING(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

SELECT r.id AS r, 'end following, by 1 at most' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_END_FOLLOWING(r.ts, r.te, s.ts, s.te, epsilon => 1)
ORDER BY r, s;

SELECT r.id AS r, 'reverse end following' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_REVERSE_END_FOLLOWING(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

-- r starts first and ends first, and both have a point in common.
SELECT r.id AS r, 'left overlap' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_LEFT_OVERLAP(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

SELECT r.id AS r, 'right overlap' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_RIGHT_OVERLAP(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

SELECT r.id AS r, 'right overlap, by 1 and 1 at most' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_RIGHT_OVERLAP(r.ts, r.te, s.ts, s.te, delta => 1, epsilon => 1)
ORDER BY r, s;

-- r lies within s.
SELECT r.id AS r, 'during' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_DURING(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

SELECT r.id AS r, 'reverse during' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_REVERSE_DURING(r.ts, r.te, s.ts, s.te)
ORDER BY r, s;

SELECT r.id AS r, 'reverse during, by 1 and 1 at most' AS relation, s.id AS s
FROM r JOIN s ON ISEQL_REVERSE_DURING(r.ts, r.te, s.ts, s.te, delta => 1, epsilon => 1)
ORDER BY r, s;
