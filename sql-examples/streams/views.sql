-- Card payments, and the payment requests to check, as tables.
CREATE OR REPLACE TEMPORARY VIEW payments (card STRING, at TIMESTAMP, amount DECIMAL(9, 2))
USING json OPTIONS (path 'sql-examples/streams/data/payments');

CREATE OR REPLACE TEMPORARY VIEW requests
  (id INT, card STRING, at TIMESTAMP, amount DECIMAL(9, 2))
USING json OPTIONS (path 'sql-examples/streams/data/requests');
