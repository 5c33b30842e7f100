-- The sessions that were hit by an outage of their region, with the common time.
SELECT s.id, o.id AS outage, s.region, greatest(s.ts, o.ts) AS since,
  least(s.te, o.te) AS until
FROM sessions s JOIN outages o
  ON s.region = o.region AND INTERVAL_INTERSECTS(s.ts, s.te, o.ts, o.te);
