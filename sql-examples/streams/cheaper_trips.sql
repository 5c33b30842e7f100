-- Trips that were longer than another one of the nine before or after, and cheaper.
SELECT a.seq, a.dist, a.fare, b.seq AS other, b.dist AS shorter, b.fare AS dearer
FROM trips a JOIN trips b
  ON a.dist > b.dist + 4 AND a.fare < b.fare - 8 AND abs(a.seq - b.seq) < 10;
