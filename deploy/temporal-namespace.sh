#!/bin/sh
# Creates the namespace $TEMPORAL_NAMESPACE on the server at $TEMPORAL_ADDRESS if it does not exist. Idempotent.
# $RETENTION is how long Temporal keeps closed reviews (the ledger is not affected). Used by docker-compose.yml and test/cluster.
set -eu
tries=0
until output=$(temporal operator cluster health 2>&1); do
  tries=$((tries + 1))
  if [ "$tries" -ge 60 ]; then echo "no healthy Temporal server at ${TEMPORAL_ADDRESS}: ${output}" >&2; exit 1; fi
  sleep 1
done
if temporal operator namespace describe -n "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  echo "namespace ${TEMPORAL_NAMESPACE} already exists"
else
  temporal operator namespace create -n "$TEMPORAL_NAMESPACE" --retention "${RETENTION:-30d}" >/dev/null
  echo "namespace ${TEMPORAL_NAMESPACE} created, retention ${RETENTION:-30d}"
fi
