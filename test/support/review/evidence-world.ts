import type { CommitReport, Settled } from '../../../activities/review-types';
import { exportEvidence, type EvidenceSources } from '../../../activities/review/export-evidence';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import { sha256Hex, sha256HexOfText } from '../../../policy/contracts/hash';
import { policyMoved } from '../../../policy/contracts/failure';
import type { SourceTool } from '../../../policy/contracts/source-tool';
import { stagingSha, type StagingRecord } from '../../../policy/contracts/staging-record';
import type { EvidenceBundle, EvidenceInclusion } from '../../../policy/evidence/bundle';
import { inclusionProof, merkleRoot, subtreeHash } from '../../../policy/evidence/merkle';
import { signPredicate } from '../../../signing/envelope';
import type { SigningKey } from '../../../signing/keys';
import type { EvidenceTrust } from '../../../signing/verify-evidence';
import { sourceToolRegistry } from '../../../source-tools/define';
import { sqlCas } from '../../../source-tools/sql';
import { stagingRecord, updatedTable } from '../../../dev/staging-record';
import { createPlanSource } from '../../../storage/plans/plan-source';
import { extensionsOf } from '../../../workers/extensions';
import { memoryByteStore } from '../memory-byte-store';
import { memoryLedger, type MemoryLedger } from '../memory-ledger';
import { EvidenceReview, type EvidenceSetting, type WorldChange } from './evidence-review';
import { reviewDeps } from './review-deps';
import { SeededKeys } from './seeded-keys';
import { signedPolicy } from './signed-policy';

export const WORLD_BUNDLE = `
version: 1
name: published vectors
domain: shop
provider: none
model: none
targets:
  shop: { development: false, sourceTools: [SQLCAS] }
groups:
  dba: { members: [alice, bob] }
defaultGroup: dba
validators:
  - validator: { name: usual_tables, level: confirm, policyVersion: '1', rules: [{ tableWhitelist: { name: usual, allowed: [public.items] } }] }
  - validator: { name: vault, level: forbid, policyVersion: '1', rules: [{ tableWhitelist: { name: all_but_vault, allowed: [public.items, public.prices] } }] }
  - judge: { model: vector-judge }
policies:
  - { key: two_look, name: Two people look at prices, match: { validatorIds: [guardian.usual_tables] }, quorum: 2, requiresConfirmation: true }
`;

const START = Date.parse('2026-03-01T09:00:00.000Z');
const OURS = extensionsOf();

export interface World {
  readonly ledger: MemoryLedger;
  readonly trust: EvidenceTrust;
  readonly sources: EvidenceSources;
  readonly keys: SeededKeys;
  review(change: WorldChange): Promise<{
    readonly changeId: string;
    readonly settled: Settled | CommitReport | null;
    readonly steps: EvidenceReview;
  }>;
  export(changeId: string, options?: { readonly bytes: boolean }): Promise<EvidenceBundle>;
}

/**
 * Reviews whose evidence is the same in each run, byte for byte: keys from seeds, a clock that advances by a second at each
 * reading, and a target that accepts everything. All reviews are in one ledger, with one checkpoint over it.
 */
export function evidenceWorld(options: { readonly bundleText?: string; readonly checkpoint?: boolean } = {}): World {
  const { bundleText = WORLD_BUNDLE, checkpoint = true } = options;
  let time = START;
  const clock = (): Date => new Date((time += 1000));
  const keys = new SeededKeys();
  const ledger = memoryLedger();
  const store = memoryByteStore();
  const stagingRecords = new Map<string, StagingRecord>();
  const previews = new Map<string, JsonObject>();
  const target: AcceptingTarget = { rows: 1, table: '' };
  const tools = sourceToolRegistry([acceptingTool(target)]);
  const { validators, callbacks } = OURS;
  const policy = signedPolicy({ validators, callbacks, sourceTools: tools }, keys.operator);
  policy.publish(bundleText);
  const plans = createPlanSource({ ...policy, now: () => time });
  const setting: EvidenceSetting = {
    ...policy.compile(bundleText, 'shop', 'SQLCAS'),
    keys,
    clock,
    deps: (review, ending) => {
      const usable = ending === 'policy_moved' ? { ...plans, byHash: notCompiled } : plans;
      const stores = { store, ledger, plans: usable, stagingRecords, previews, keys: keys.registry() };
      return reviewDeps({ ...review, ...stores, tools, validators, callbacks, signers: keys, now: clock });
    },
  };
  const sources: EvidenceSources = {
    ledger,
    store,
    previews: { preview: async (changeId, staging) => previews.get(`${changeId}/${stagingSha(staging)}`) ?? null },
    policy,
    keys,
    inclusion: { covering: async (changeId) => (checkpoint ? inclusionOf(ledger, changeId, keys.committer) : null) },
    history: async () => null,
  };
  return {
    ledger,
    keys,
    sources,
    trust: { operators: [keys.operator.publicKey], committers: [keys.committer.publicKey] },
    async review(change) {
      Object.assign(target, { rows: change.rows ?? 1, table: change.table, rejects: change.rejects });
      const review = new EvidenceReview(setting, change);
      const { changeId, submission } = review;
      if (change.unsigned !== true) {
        const envelope = review.signSubmission(keys.agent, { nonce: `submission-${changeId.slice(0, 16)}` });
        review.submission = { ...submission, envelope };
      }
      return {
        changeId,
        settled: await review.run(policy.publish, (name, at) => keys.revoke(name, at, change.revokedBy)),
        steps: review,
      };
    },
    export: (changeId, asked = { bytes: true }) => exportEvidence(sources, changeId, asked),
  };
}

const notCompiled = async (): Promise<never> => {
  throw policyMoved('It compiles to another plan in this process, which has other rules');
};

/** The rows of one change in a checkpoint over the whole ledger. */
function inclusionOf(ledger: MemoryLedger, changeId: string, key: SigningKey): EvidenceInclusion {
  const all = ledger.all;
  const hashes = all.map(({ hash }) => hash);
  const indices = all.flatMap(({ row }, leaf) => (row.changeId === changeId ? [leaf] : []));
  const head = { size: all.length, rootHash: merkleRoot(hashes), keyId: key.keyId, at: '2026-03-01T12:00:00.000Z' };
  return {
    checkpoint: signPredicate('checkpoint', head, key),
    leaves: indices.map((leaf) => ({
      leaf,
      proof: inclusionProof(all.length, leaf, (node) => subtreeHash(node, (i) => hashes[i] ?? '')),
    })),
  };
}

interface AcceptingTarget {
  readonly rows: number;
  readonly table: string;
  readonly rejects?: WorldChange['rejects'];
}

/** Reads diffs as `SQLCAS` does. Its target accepts every change that it does not reject, and reports the table and the row count of `target`. */
function acceptingTool(target: AcceptingTarget): SourceTool {
  return {
    ...sqlCas,
    staging: async () => ({
      stage: async ({ diff }) => {
        if (target.rejects !== undefined) return { kind: 'rejected', ...target.rejects };
        const record = stagingRecord({
          sourceTool: 'SQLCAS',
          base: { rows: [{ key: { id: 7 }, version: 3 }] },
          serverVersion: '18.0',
          statements: [{ sha: sha256Hex(diff.raw), command: 'UPDATE', rowCount: target.rows }],
          tables: [updatedTable(target.table, target.rows, sha256HexOfText('touched'))],
        });
        const row = { before: { id: '7', stock: '1' }, after: { id: '7', stock: '2' } };
        const preview = { tables: [{ table: target.table, total: target.rows, rows: [row] }], moreTables: 0 };
        return { kind: 'staged', record, preview };
      },
      commit: async () => ({ kind: 'applied', effect: { rows: { [target.table]: target.rows } }, replayed: false }),
      seal: async () => ({ found: false }),
    }),
  };
}
