-- Software history: 28,758 periods in which a file of a repository did not change, in Unix seconds.
-- How many files were there, and which were gone for a while?

CREATE OR REPLACE TEMPORARY VIEW version_periods (path_id INT, key STRING, start BIGINT, end BIGINT)
USING csv OPTIONS (path 'sql-examples/data/delta_file_history.csv.gz', header true);

CREATE OR REPLACE TEMPORARY VIEW versions AS
SELECT * FROM validtime(TABLE(version_periods), 'start', 'end');

-- A file is there while it has a version: how many files, at the most, and for how long were there
-- so many?
SELECT files, sum(end - start) AS seconds
FROM sequenced(TABLE(SELECT count(*) AS files FROM versions))
WHERE start IS NOT NULL AND end IS NOT NULL
GROUP BY files ORDER BY files DESC LIMIT 3;

-- In how many periods was a file there, however often it changed in them?
SELECT count(*) AS periods, count(DISTINCT path_id) AS files
FROM sequenced(TABLE(SELECT DISTINCT path_id FROM versions));

-- Folders whose number of files was above a hundred, and for how many seconds.
SELECT key AS folder, sum(end - start) AS seconds
FROM sequenced(TABLE(SELECT key, count(*) AS files FROM versions GROUP BY key))
WHERE files > 100
GROUP BY key ORDER BY key;
