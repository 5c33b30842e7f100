-- Trading: for each order the price of its time, the average of the last prices, and the next price.
-- Only the rows that are returned are made, not all earlier prices of an order.

CREATE OR REPLACE TEMPORARY VIEW prices AS SELECT * FROM VALUES
  ('tea', TIMESTAMP '2026-03-02 08:00:00', 3.0),
  ('tea', TIMESTAMP '2026-03-02 09:00:04', 4.0),
  ('tea', TIMESTAMP '2026-03-02 09:00:30', 5.0),
  ('tea', TIMESTAMP '2026-03-02 11:00:00', 6.5),
  ('rum', TIMESTAMP '2026-03-02 09:00:20', 9.0)
  AS t(item, at, price);

CREATE OR REPLACE TEMPORARY VIEW orders AS SELECT * FROM VALUES
  (1, 'tea', TIMESTAMP '2026-03-02 09:00:05', 20.0),
  (2, 'tea', TIMESTAMP '2026-03-02 12:00:00', 6.0),
  (3, 'rum', TIMESTAMP '2026-03-02 09:00:10', 9.5)
  AS t(id, item, at, most);

-- The price at the time of the order.
SELECT o.id, w.price, w.at
FROM orders o LEFT JOIN LATERAL (
  SELECT * FROM prices p WHERE p.item = o.item AND p.at <= o.at
  ORDER BY p.at DESC LIMIT 1) w ON true
ORDER BY o.id;

-- The same as a value, not older than an hour.
SELECT o.id, (
  SELECT price FROM prices p
  WHERE p.item = o.item AND p.at <= o.at AND p.at >= o.at - INTERVAL '1' HOUR
  ORDER BY p.at DESC LIMIT 1) AS price
FROM orders o
ORDER BY o.id;

-- The last price that the customer would have paid: a further condition.
SELECT o.id, w.price, w.at
FROM orders o JOIN LATERAL (
  SELECT * FROM prices p WHERE p.item = o.item AND p.at <= o.at AND p.price <= o.most
  ORDER BY p.at DESC LIMIT 1) w
ORDER BY o.id;

-- The average of the last three prices, and their number.
SELECT o.id, w.*
FROM orders o, LATERAL (
  SELECT round(avg(price), 2) AS mean, count(*) AS prices FROM (
    SELECT price FROM prices p WHERE p.item = o.item AND p.at <= o.at
    ORDER BY p.at DESC LIMIT 3)) w
ORDER BY o.id;

-- The next price.
SELECT o.id, w.price, w.at
FROM orders o JOIN LATERAL (
  SELECT * FROM prices p WHERE p.item = o.item AND p.at > o.at
  ORDER BY p.at LIMIT 1) w
ORDER BY o.id;
