#!/bin/sh
# Makes or updates the schema of Temporal's two databases, which exist already and belong to $SQL_USER. Safe to run again.
# Wants SQL_HOST, SQL_PORT, SQL_USER, SQL_PASSWORD; used by docker-compose.yml and by test/cluster.
set -eu
export SQL_PLUGIN=postgres12
for pair in temporal:temporal temporal_visibility:visibility; do
  export SQL_DATABASE="${pair%%:*}"
  schema="postgresql/v12/${pair##*:}"
  echo "schema of ${SQL_DATABASE} from ${schema}"
  # The version table is there from the second run on; setting it up again would begin at version 0 once more.
  if ! temporal-sql-tool update-schema --schema-name "$schema" 2>/tmp/update.$$; then
    grep -q 'schema_version' /tmp/update.$$ || { cat /tmp/update.$$ >&2; exit 1; }
    temporal-sql-tool setup-schema -v 0.0
    temporal-sql-tool update-schema --schema-name "$schema"
  fi
  rm -f /tmp/update.$$
done
