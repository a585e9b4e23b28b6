import type { Plan } from '../../policy/contracts/plan';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { Ledger } from '../../policy/evidence/ledger-port';
import type { PriceTable } from '../../policy/judge/record';
import type { DiffRenderer } from '../../policy/text/render/source-lines';
import type { Attestor } from '../attestation';
import type { JudgeCache } from './cache';
import type { JudgeTransport } from './transport';

export interface JudgeDeps {
  readonly transport: JudgeTransport;
  /** The plan by its hash, from a source that this process trusts. Fails with `policy_moved`. */
  readonly loadPlan: (planHash: string) => Promise<Plan>;
  readonly store: Pick<ByteStore, 'get'>;
  readonly ledger: Pick<Ledger, 'readKinds' | 'append'>;
  readonly attestor: Attestor;
  /** Written into ledger rows, e.g. `judge-worker:<keyId>`. */
  readonly actor: string;
  /** By source tool; `JUDGE_RENDERERS` are ours. */
  readonly renderers: Readonly<Record<string, DiffRenderer>>;
  readonly cache: JudgeCache;
  /** Secret of the operator, at least 16 bytes, the same in every judge worker: marks of lines are made with it. */
  readonly markingKey: Uint8Array;
  readonly prices: PriceTable;
  /** False: the ledger keeps only the hash of what the model wrote. */
  readonly keepAnswers: boolean;
  readonly now: () => number;
}
