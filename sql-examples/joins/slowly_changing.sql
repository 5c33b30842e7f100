-- Warehousing: two slowly changing histories (SCD type 2) become one, with a row for each period in
-- which neither changes. A period is two columns or a struct of two fields.

CREATE OR REPLACE TEMPORARY VIEW addresses AS
SELECT customer, city, struct(valid_from, valid_to) AS period FROM VALUES
  (1, 'Oslo', DATE '2024-01-01', DATE '2025-03-15'),
  (1, 'Rome', DATE '2025-03-15', DATE '9999-12-31'),
  (2, 'Lima', DATE '2024-06-01', DATE '9999-12-31'),
  (3, 'Kyiv', DATE '2024-02-10', DATE '2024-02-20')
  AS t(customer, city, valid_from, valid_to);

CREATE OR REPLACE TEMPORARY VIEW tiers AS
SELECT customer, tier, struct(valid_from, valid_to) AS period FROM VALUES
  (1, 'basic', DATE '2024-01-01', DATE '2024-07-01'),
  (1, 'gold', DATE '2024-07-01', DATE '9999-12-31'),
  (2, 'basic', DATE '2024-06-01', DATE '2025-01-01'),
  (2, 'gold', DATE '2025-02-01', DATE '9999-12-31'),
  (3, 'basic', DATE '2024-02-20', DATE '9999-12-31')
  AS t(customer, tier, valid_from, valid_to);

SELECT a.customer, a.city, t.tier,
  greatest(a.period.valid_from, t.period.valid_from) AS valid_from,
  least(a.period.valid_to, t.period.valid_to) AS valid_to
FROM addresses a JOIN tiers t
  ON a.customer = t.customer AND INTERVAL_INTERSECTS(a.period, t.period)
ORDER BY customer, valid_from;

-- The tier on the day of an order: a point in a period.
SELECT o.id AS `order`, o.customer, t.tier, o.day
FROM VALUES (100, 1, DATE '2024-06-30'), (101, 1, DATE '2024-07-01'), (102, 2, DATE '2025-01-15')
  AS o(id, customer, day)
JOIN tiers t
  ON o.customer = t.customer AND t.period.valid_from <= o.day AND o.day < t.period.valid_to
ORDER BY `order`;

-- Which changes of tier came within a month after a change of address?
SELECT a.customer, a.city, t.tier
FROM addresses a JOIN tiers t
  ON a.customer = t.customer AND ISEQL_START_PRECEDING(
    a.period, t.period, delta => INTERVAL '1' MONTH)
ORDER BY customer, city, tier;
