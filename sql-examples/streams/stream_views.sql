-- Data of a service: sessions, outages, deployments and calls are intervals; trips have a number.
CREATE OR REPLACE TEMPORARY VIEW sessions (id STRING, region STRING, ts TIMESTAMP, te TIMESTAMP)
USING json OPTIONS (path 'sql-examples/streams/data/sessions');

CREATE OR REPLACE TEMPORARY VIEW outages (id STRING, region STRING, ts TIMESTAMP, te TIMESTAMP)
USING json OPTIONS (path 'sql-examples/streams/data/outages');

CREATE OR REPLACE TEMPORARY VIEW deploys (id STRING, ts TIMESTAMP, te TIMESTAMP)
USING json OPTIONS (path 'sql-examples/streams/data/deploys');

CREATE OR REPLACE TEMPORARY VIEW calls (id STRING, ts TIMESTAMP, te TIMESTAMP)
USING json OPTIONS (path 'sql-examples/streams/data/calls');

CREATE OR REPLACE TEMPORARY VIEW trips (seq INT, dist DOUBLE, fare INT)
USING json OPTIONS (path 'sql-examples/streams/data/trips');
