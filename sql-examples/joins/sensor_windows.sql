-- Monitoring: the readings of a sensor within each of its maintenance windows. A reading is a point
-- in time, not an interval, so the condition is two plain inequalities.

CREATE OR REPLACE TEMPORARY VIEW readings AS
SELECT id % 10 AS sensor, timestamp_seconds(1767225600 + id * 6) AS at,
  CAST(20 + (id * 7919) % 100 / 10 AS DECIMAL(4, 1)) AS degrees
FROM range(100000);

CREATE OR REPLACE TEMPORARY VIEW windows AS
SELECT id AS window, id % 10 AS sensor, begin, begin + INTERVAL '15' MINUTE AS until
FROM (SELECT id, timestamp_seconds(1767225600 + id * 5400) AS begin FROM range(100));

SELECT w.sensor, count(DISTINCT w.window) AS windows, count(*) AS readings,
  round(avg(r.degrees), 2) AS degrees
FROM readings r JOIN windows w ON r.sensor = w.sensor AND r.at >= w.begin AND r.at < w.until
GROUP BY w.sensor
ORDER BY w.sensor;

-- Pairs of hot readings of different sensors, at most five minutes apart.
SELECT count(*) AS pairs
FROM (SELECT * FROM readings WHERE degrees > 29.5) a
JOIN (SELECT * FROM readings WHERE degrees > 29.5) b
  ON b.at BETWEEN a.at AND a.at + INTERVAL '5' MINUTE
WHERE a.sensor <> b.sensor;
