-- Software history: 28,758 periods in which a file of a repository did not change, in Unix seconds.
-- How many files existed, and in how many periods?

CREATE OR REPLACE TEMPORARY VIEW version_periods (path_id INT, key STRING, start BIGINT, end BIGINT)
USING csv OPTIONS (path 'sql-examples/data/delta_file_history.csv.gz', header true);

CREATE OR REPLACE TEMPORARY VIEW versions AS
SELECT * FROM validtime(TABLE(version_periods), 'start', 'end');

-- A file exists while it has a version. How many files existed at most, and for how long?
SELECT files, sum(end - start) AS seconds
FROM sequenced(TABLE(SELECT count(*) AS files FROM versions))
WHERE start IS NOT NULL AND end IS NOT NULL
GROUP BY files ORDER BY files DESC LIMIT 3;

-- In how many periods did a file exist, however often it changed during them?
SELECT count(*) AS periods, count(DISTINCT path_id) AS files
FROM sequenced(TABLE(SELECT DISTINCT path_id FROM versions));

-- Folders with more than a hundred files, and for how many seconds.
SELECT key AS folder, sum(end - start) AS seconds
FROM sequenced(TABLE(SELECT key, count(*) AS files FROM versions GROUP BY key))
WHERE files > 100
GROUP BY key ORDER BY key;
