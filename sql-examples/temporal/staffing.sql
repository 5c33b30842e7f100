-- Planning: who works when, and which machine needs which skill when? Set operations compare rows
-- one against one at each instant.

CREATE OR REPLACE TEMPORARY VIEW works AS
SELECT * FROM validtime(TABLE(
  SELECT * FROM VALUES
    ('Ann', 'SP', 3, 10), ('Joe', 'NS', 8, 16), ('Sam', 'SP', 8, 16), ('Ann', 'SP', 18, 20)
    AS t(name, skill, ts, te)), 'ts', 'te');

CREATE OR REPLACE TEMPORARY VIEW assign AS
SELECT * FROM validtime(TABLE(
  SELECT * FROM VALUES ('M1', 'SP', 3, 12), ('M2', 'SP', 6, 14), ('M3', 'NS', 3, 16)
    AS t(mach, skill, ts, te)), 'ts', 'te');

-- How many with the skill SP are there?
SELECT * FROM sequenced(
  TABLE(SELECT count(*) AS people FROM works WHERE skill = 'SP'), period => array(0, 24))
ORDER BY ts;

-- Which skills are missing, one for each that is needed?
SELECT * FROM sequenced(TABLE(SELECT skill FROM assign EXCEPT ALL SELECT skill FROM works))
ORDER BY skill, ts;

-- For which of them is there nobody at all?
SELECT * FROM sequenced(TABLE(SELECT * FROM temporal_except_strict(
  TABLE(SELECT skill FROM assign), TABLE(SELECT skill FROM works))))
ORDER BY skill, ts;

-- Whom could which machine have?
SELECT * FROM sequenced(TABLE(SELECT mach, name FROM assign LEFT JOIN works USING (skill)))
ORDER BY mach, ts, name;

-- Shifts of five hours at most, one after the other.
-- Spark's own join: there is none, as rows are cut one by one.
SELECT * FROM sequenced(TABLE(SELECT * FROM temporal_split(TABLE(SELECT name FROM works), 5)))
ORDER BY name, ts;
