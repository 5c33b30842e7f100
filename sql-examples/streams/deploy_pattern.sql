-- A deployment overlaps an outage, and a user calls within an hour after the outage.
SELECT d.id AS deploy, o.id AS outage, c.id AS call, o.region, c.ts AS called
FROM deploys d
JOIN outages o ON ALLEN_OVERLAPS(d.ts, d.te, o.ts, o.te)
JOIN calls c ON ISEQL_BEFORE(o.ts, o.te, c.ts, c.te, delta => INTERVAL '1' HOUR);
