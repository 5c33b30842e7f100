-- Operations: which user sessions were hit by an outage of their region, and for how long? Two
-- intervals intersect if they have any point in time in common.

CREATE OR REPLACE TEMPORARY VIEW sessions AS
SELECT id AS session, element_at(array('eu', 'us', 'asia'), int(id % 3) + 1) AS region,
  begin, begin + make_dt_interval(0, 0, int(5 + id % 50)) AS until
FROM (
  SELECT id, TIMESTAMP_NTZ '2026-03-01 00:00:00' + make_dt_interval(0, 0, int(id * 37 % 10080)) AS begin
  FROM range(20000));

CREATE OR REPLACE TEMPORARY VIEW outages AS
SELECT * FROM VALUES
  ('router', 'eu', TIMESTAMP_NTZ '2026-03-02 10:00:00', TIMESTAMP_NTZ '2026-03-02 10:45:00'),
  ('power', 'us', TIMESTAMP_NTZ '2026-03-02 22:30:00', TIMESTAMP_NTZ '2026-03-03 01:00:00'),
  ('deploy', 'us', TIMESTAMP_NTZ '2026-03-05 15:00:00', TIMESTAMP_NTZ '2026-03-05 15:05:00'),
  ('cable', 'asia', TIMESTAMP_NTZ '2026-03-06 03:12:00', TIMESTAMP_NTZ '2026-03-07 09:30:00')
  AS t(outage, region, begin, until);

SELECT o.outage, count(*) AS sessions_hit,
  sum(timestampdiff(MINUTE, greatest(s.begin, o.begin), least(s.until, o.until))) AS minutes_lost
FROM sessions s JOIN outages o
  ON s.region = o.region AND INTERVAL_INTERSECTS(s.begin, s.until, o.begin, o.until)
GROUP BY o.outage
ORDER BY o.outage;

-- Which sessions began at most two minutes before an outage hit them?
SELECT o.outage, s.session, s.begin
FROM sessions s JOIN outages o
  ON s.region = o.region
  AND ISEQL_START_PRECEDING(s.begin, s.until, o.begin, o.until, delta => INTERVAL '2' MINUTE)
ORDER BY o.outage, s.session;
