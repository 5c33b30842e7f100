-- How many sessions run in each region, and whether the region has an outage, whenever that changes.
SELECT * FROM sequenced(TABLE(
  SELECT s.region, count(DISTINCT s.id) AS running, count(o.id) > 0 AS outage
  FROM validtime(TABLE(sessions), 'ts', 'te') s
    LEFT JOIN validtime(TABLE(outages), 'ts', 'te') o ON s.region = o.region
  GROUP BY s.region));
