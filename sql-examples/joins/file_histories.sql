-- Software history: which pairs of files of a repository had versions at the same time? The join
-- has no key, and 28,758 rows give 172,522,486 pairs. Each row of the data is a period, in Unix
-- seconds, in which a file did not change.

CREATE OR REPLACE TEMPORARY VIEW history (path_id INT, key STRING, start BIGINT, end BIGINT)
USING csv OPTIONS (path 'sql-examples/data/delta_file_history.csv.gz', header true);

SELECT count(*) AS pairs
FROM history a JOIN history b ON INTERVAL_INTERSECTS(a.start, a.end, b.start, b.end);

-- Periods of two files that began and ended within a minute of each other: were they changed
-- together?
SELECT a.key AS folder, b.key AS other_folder, count(*) AS pairs
FROM history a JOIN history b
  ON ISEQL_LEFT_OVERLAP(a.start, a.end, b.start, b.end, delta => 60, epsilon => 60)
WHERE a.key < b.key
GROUP BY a.key, b.key
ORDER BY pairs DESC, folder, other_folder
LIMIT 5;
