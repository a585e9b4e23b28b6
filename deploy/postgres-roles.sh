#!/bin/sh
# Databases and roles, run once by the PostgreSQL image on an empty volume. Verifiers come from deploy/secrets/postgres.env;
# `create role … password` takes a SCRAM verifier as it is. Grants on our tables are made by `countersign setup`, which owns them.
set -eu
psql -v ON_ERROR_STOP=1 --no-psqlrc -U "${POSTGRES_USER:-postgres}" -d postgres \
  -v temporal="$TEMPORAL_VERIFIER" -v owner="$OWNER_VERIFIER" -v review="$REVIEW_VERIFIER" -v judge="$JUDGE_VERIFIER" \
  -v committer="$COMMITTER_VERIFIER" -v gateway="$GATEWAY_VERIFIER" <<'SQL'
create role temporal login password :'temporal';
create database temporal owner temporal;
create database temporal_visibility owner temporal;

create role countersign_owner login password :'owner';
create role countersign_review login password :'review';
create role countersign_judge login password :'judge';
create role countersign_committer login password :'committer';
create role countersign_gateway login password :'gateway';
create database countersign owner countersign_owner;

-- By default every role may connect to every database.
revoke connect on database temporal, temporal_visibility, countersign, postgres from public;
grant connect on database countersign to countersign_review, countersign_judge, countersign_committer, countersign_gateway;
SQL
