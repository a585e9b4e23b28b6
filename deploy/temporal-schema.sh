#!/bin/sh
# Creates or updates the schema of Temporal's two databases, which must exist and belong to $SQL_USER. Idempotent.
# Requires SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD. Used by docker-compose.yml and test/cluster.
set -eu
export SQL_PLUGIN=postgres12
for pair in temporal:temporal temporal_visibility:visibility; do
  export SQL_DATABASE="${pair%%:*}"
  schema="postgresql/v12/${pair##*:}"
  echo "schema of ${SQL_DATABASE} from ${schema}"
  # Only the first run may set up the version table: setting it up again would restart at version 0.
  if ! temporal-sql-tool update-schema --schema-name "$schema" 2>/tmp/update.$$; then
    grep -q 'schema_version' /tmp/update.$$ || { cat /tmp/update.$$ >&2; exit 1; }
    temporal-sql-tool setup-schema -v 0.0
    temporal-sql-tool update-schema --schema-name "$schema"
  fi
  rm -f /tmp/update.$$
done
