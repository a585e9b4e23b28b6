#!/bin/sh
# Creates databases and roles. The PostgreSQL image runs it once, on an empty volume. The verifiers come from
# deploy/secrets/postgres.env; `create role … password` accepts a SCRAM verifier. `countersign setup` owns the tables and grants access.
set -eu
psql -v ON_ERROR_STOP=1 --no-psqlrc -U "${POSTGRES_USER:-postgres}" -d postgres \
  -v temporal="$TEMPORAL_VERIFIER" -v owner="$COUNTERSIGN_OWNER_VERIFIER" -v review="$CS_REVIEW_VERIFIER" \
  -v judge="$CS_JUDGE_VERIFIER" -v commit="$CS_COMMIT_VERIFIER" -v gateway="$CS_GATEWAY_VERIFIER" \
  -v operator="$CS_OPERATOR_VERIFIER" -v reader="$CS_READER_VERIFIER" <<'SQL'
create role temporal login password :'temporal';
create database temporal owner temporal;
create database temporal_visibility owner temporal;

create role cs_review login password :'review';
create role cs_judge login password :'judge';
create role cs_commit login password :'commit';
create role cs_gateway login password :'gateway';
create role cs_operator login password :'operator';
create role cs_reader login password :'reader';
-- The owner can set timeouts on these roles but cannot act as one of them.
create role countersign_owner login createrole password :'owner';
grant cs_review, cs_judge, cs_commit, cs_gateway, cs_operator, cs_reader to countersign_owner with admin true, inherit false, set false;
create database countersign owner countersign_owner;

-- By default every role may connect to every database.
revoke connect on database temporal, temporal_visibility, countersign, postgres from public;
grant connect on database countersign to cs_review, cs_judge, cs_commit, cs_gateway, cs_operator, cs_reader;
SQL
