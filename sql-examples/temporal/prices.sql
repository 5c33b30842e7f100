-- Warehousing: histories of prices and offers, by plain queries for a single day. Mark the period
-- of a table once, and write queries on the view as if it had the rows of one day.

CREATE OR REPLACE TEMPORARY VIEW prices AS
SELECT * FROM validtime(TABLE(
  SELECT * FROM VALUES
    ('tea', 3.00, DATE '2024-01-01', DATE '2024-06-01'),
    ('tea', 4.50, DATE '2024-06-01', NULL),
    ('cup', 9.00, DATE '2024-03-01', DATE '2024-09-01'),
    ('pot', 21.00, DATE '2024-02-01', DATE '9999-12-31')
    AS t(product, price, valid_from, valid_to)),
  'valid_from', 'valid_to', unbounded => DATE '9999-12-31');

-- Offers are stored with their last day, not with the day after it.
CREATE OR REPLACE TEMPORARY VIEW offers AS
SELECT * FROM validtime(TABLE(
  SELECT * FROM VALUES
    ('tea', 20, DATE '2024-05-15', DATE '2024-06-14'),
    ('pot', 10, DATE '2024-04-01', DATE '2024-04-30')
    AS t(product, percent, first_day, last_day)),
  'first_day', 'last_day', closed => 'both');

-- The price of each product after the offer, over time.
SELECT * FROM sequenced(TABLE(
  SELECT product, price, coalesce(percent, 0) AS percent,
    CAST(price * (100 - coalesce(percent, 0)) / 100 AS DECIMAL(8, 2)) AS asked
  FROM prices LEFT JOIN offers USING (product)))
ORDER BY product, valid_from;

-- The number of products and their total price, over time.
SELECT * FROM sequenced(
  TABLE(SELECT count(*) AS products, sum(price) AS total FROM prices),
  period => array(DATE '2024-01-01', DATE '2025-01-01'))
ORDER BY valid_from;

-- The two most expensive products of each day.
SELECT * FROM sequenced(TABLE(
  SELECT product, price FROM prices ORDER BY price DESC LIMIT 2), coalesce => true)
ORDER BY valid_from, product;

-- When was a product without an offer, while another product had an offer?
SELECT * FROM sequenced(TABLE(
  SELECT product FROM prices
  WHERE EXISTS (SELECT 1 FROM offers)
    AND NOT EXISTS (SELECT 1 FROM offers o WHERE o.product = prices.product)))
ORDER BY product, valid_from;

-- Spark's own join: for a single day the rows are only filtered.
SELECT * FROM sequenced(TABLE(
  SELECT product, price, percent FROM prices LEFT JOIN offers USING (product)),
  at => DATE '2024-06-14')
ORDER BY product;
