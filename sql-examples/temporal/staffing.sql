-- Planning: who works when, and which machine needs which skill when? At each instant, EXCEPT ALL
-- removes one needed row for each equal row.

CREATE OR REPLACE TEMPORARY VIEW works AS
SELECT * FROM validtime(TABLE(
  SELECT * FROM VALUES
    ('Ann', 'SP', 3, 10), ('Joe', 'NS', 8, 16), ('Sam', 'SP', 8, 16), ('Ann', 'SP', 18, 20)
    AS t(name, skill, ts, te)), 'ts', 'te');

CREATE OR REPLACE TEMPORARY VIEW assign AS
SELECT * FROM validtime(TABLE(
  SELECT * FROM VALUES ('M1', 'SP', 3, 12), ('M2', 'SP', 6, 14), ('M3', 'NS', 3, 16)
    AS t(mach, skill, ts, te)), 'ts', 'te');

-- The number of people with the skill SP, over time.
SELECT * FROM sequenced(
  TABLE(SELECT count(*) AS people FROM works WHERE skill = 'SP'), period => array(0, 24))
ORDER BY ts;

-- The missing skills, one row for each missing person.
SELECT * FROM sequenced(TABLE(SELECT skill FROM assign EXCEPT ALL SELECT skill FROM works))
ORDER BY skill, ts;

-- The needed skills that nobody at work has.
SELECT * FROM sequenced(TABLE(SELECT * FROM temporal_except_strict(
  TABLE(SELECT skill FROM assign), TABLE(SELECT skill FROM works))))
ORDER BY skill, ts;

-- The people who could work at each machine.
SELECT * FROM sequenced(TABLE(SELECT mach, name FROM assign LEFT JOIN works USING (skill)))
ORDER BY mach, ts, name;

-- Shifts of at most five hours, one after the other.
-- Spark's own join: the query has no join, as each row is cut by itself.
SELECT * FROM sequenced(TABLE(SELECT * FROM temporal_split(TABLE(SELECT name FROM works), 5)))
ORDER BY name, ts;
