-- Trips that were longer, and cheaper, than one of the nine trips before or after.
SELECT a.seq, a.dist, a.fare, b.seq AS other, b.dist AS shorter, b.fare AS dearer
FROM trips a JOIN trips b
  ON a.dist > b.dist + 4 AND a.fare < b.fare - 8 AND abs(a.seq - b.seq) < 10;
