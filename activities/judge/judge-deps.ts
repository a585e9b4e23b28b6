import type { Plan } from '../../policy/contracts/plan';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { Ledger } from '../../policy/evidence/ledger-port';
import type { PriceTable } from '../../policy/judge/record';
import type { SourceToolRegistry } from '../../policy/contracts/source-tool';
import type { UsableAttestor } from '../attestation';
import type { JudgeCache } from './cache';
import type { JudgeTransport } from './transport';

export interface JudgeDeps {
  readonly transport: JudgeTransport;
  /** Loads a plan by its hash from a source that this process trusts. Fails with `policy_moved` if it has no such plan. */
  readonly loadPlan: (planHash: string) => Promise<Plan>;
  readonly store: Pick<ByteStore, 'get'>;
  readonly ledger: Pick<Ledger, 'readKinds' | 'append'>;
  readonly attestor: UsableAttestor;
  /** They render the diffs. */
  readonly tools: SourceToolRegistry;
  readonly cache: JudgeCache;
  /** Secret of the operator, at least 16 bytes, the same in every judge worker. The nonces of line marks derive from it. */
  readonly markingKey: Uint8Array;
  readonly prices: PriceTable;
  /** If false, the ledger keeps only the hash of each answer. */
  readonly keepAnswers: boolean;
  readonly now: () => number;
}
