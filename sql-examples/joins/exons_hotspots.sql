-- Genomics: which exons lie in open chromatin (DNase hotspots of the foetal brain)? The data is two
-- real sets of intervals, 438,694 exons and 198,621 hotspots, matched within each contig.

CREATE OR REPLACE TEMPORARY VIEW exons
USING parquet OPTIONS (path 'sql-examples/data/exons');

CREATE OR REPLACE TEMPORARY VIEW hotspots
USING parquet OPTIONS (path 'sql-examples/data/fbrain');

SELECT count(*) AS pairs
FROM exons e JOIN hotspots h
  ON e.contig = h.contig
  AND INTERVAL_INTERSECTS(e.pos_start, e.pos_end, h.pos_start, h.pos_end);

-- The plain inequalities give the same plan, in any order and together with other conditions.
SELECT e.contig, count(*) AS pairs,
  sum(least(e.pos_end, h.pos_end) - greatest(e.pos_start, h.pos_start)) AS shared_bases
FROM exons e, hotspots h
WHERE h.pos_end > e.pos_start AND e.contig = h.contig AND h.pos_start < e.pos_end
GROUP BY e.contig
ORDER BY pairs DESC, contig
LIMIT 5;
