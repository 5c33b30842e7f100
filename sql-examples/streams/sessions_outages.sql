-- Which sessions an outage of their region has hit, and for how long.
SELECT s.id, o.id AS outage, s.region, greatest(s.ts, o.ts) AS since,
  least(s.te, o.te) AS until
FROM sessions s JOIN outages o
  ON s.region = o.region AND INTERVAL_INTERSECTS(s.ts, s.te, o.ts, o.te);
