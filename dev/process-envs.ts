import type { ProcessName } from '../workers/start-process';
import type { DevSetup } from './setup';

/** The environment of each process: only the committer gets targets, and the gateway gets no key. */
export function processEnvs(
  { databaseUrls, keys, trustFile, targetsFile }: DevSetup,
  temporal: { readonly temporalAddress: string; readonly namespace: string },
): Record<ProcessName, Record<string, string>> {
  const common = {
    TEMPORAL_ADDRESS: temporal.temporalAddress,
    TEMPORAL_NAMESPACE: temporal.namespace,
    COUNTERSIGN_TRUST_FILE: trustFile,
  };
  return {
    review: {
      ...common,
      COUNTERSIGN_DATABASE_URL: databaseUrls.cs_review,
      COUNTERSIGN_KEY_FILE: keys['attestor-review'].path,
    },
    judge: {
      ...common,
      COUNTERSIGN_DATABASE_URL: databaseUrls.cs_judge,
      COUNTERSIGN_KEY_FILE: keys['attestor-judge'].path,
    },
    commit: {
      ...common,
      COUNTERSIGN_DATABASE_URL: databaseUrls.cs_commit,
      COUNTERSIGN_KEY_FILE: keys.committer.path,
      COUNTERSIGN_TARGETS_FILE: targetsFile,
    },
    gateway: { ...common, COUNTERSIGN_DATABASE_URL: databaseUrls.cs_gateway },
  };
}
