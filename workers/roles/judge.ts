import { hkdfSync } from 'node:crypto';
import { usableAttestor, type Attestor } from '../../activities/attestation';
import { createJudgeActivities } from '../../activities/judge/create-judge-activities';
import { createDatabaseJudgeCache } from '../../activities/judge/database-cache';
import { createJudgeTransport, type TransportConfig } from '../../activities/judge/transport';
import type { JudgeActivities } from '../../activities/review-types';
import type { PriceTable } from '../../policy/judge/record';
import type { SigningKey } from '../../signing/keys';
import type { Extensions } from '../extensions';
import type { Resources } from '../resources';

interface JudgeRole {
  readonly resources: Resources;
  readonly extensions: Extensions;
  readonly attestor: Attestor;
  readonly key: SigningKey;
  readonly transport: TransportConfig;
  readonly prices: PriceTable;
}

const CACHE_TTL_MS = 24 * 3_600_000;

/** Activities of the queue `countersign-judge`. Only the judge worker has the model's API key. */
export function judgeActivities({
  resources,
  extensions,
  attestor,
  key,
  transport,
  prices,
}: JudgeRole): JudgeActivities {
  const { db, store, ledger, keys, plans } = resources;
  return createJudgeActivities({
    transport: createJudgeTransport(transport),
    loadPlan: async (planHash) => (await plans.byHash(planHash)).plan,
    store,
    ledger,
    attestor: usableAttestor(attestor, keys),
    tools: extensions.sourceTools,
    cache: createDatabaseJudgeCache({
      db,
      macKey: deriveSecret(key, 'judge-cache'),
      ttlMs: CACHE_TTL_MS,
      now: Date.now,
    }),
    markingKey: deriveSecret(key, 'judge-marking'),
    prices,
    keepAnswers: true,
    now: Date.now,
  });
}

/** Derives a secret from the attestor key: unknown to authors of diffs and to the database, unchanged after a restart. */
function deriveSecret(key: SigningKey, use: 'judge-cache' | 'judge-marking'): Uint8Array {
  const secret = key.privateKey.export({ format: 'der', type: 'pkcs8' });
  return new Uint8Array(hkdfSync('sha256', secret, '', `countersign/${use}/v1`, 32));
}
