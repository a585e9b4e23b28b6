/**
 * A whole review without Temporal: the real activities over stores in memory, a target that only says yes, a clock that
 * advances by a second at each reading, and keys from seeds. The same every time, byte for byte.
 */
import { createAnswerActivities } from '../../activities/review/admit-answer';
import { inActivity } from '../../dev/activity-context';
import { attest } from '../../activities/attestation';
import { createCommitActivities } from '../../activities/committer/create-commit-activities';
import { createStagingActivities } from '../../activities/committer/stage';
import { createDisclosureActivities } from '../../activities/review/disclose';
import { exportEvidence, type EvidenceSources } from '../../activities/review/export-evidence';
import { createGuardianActivities } from '../../activities/review/run-guardians';
import { createOpeningActivities } from '../../activities/review/open-review';
import { createPlanSource } from '../../storage/plans/plan-source';
import { operatorVerifier } from '../../storage/plans/stored-revisions';
import type { CommitResult, Opened, Settled } from '../../activities/review-types';
import type { SourceTool } from '../../policy/contracts/source-tool';
import { sourceToolRegistry } from '../../source-tools/define';
import { sqlCas } from '../../source-tools/sql';
import type { AdmittedAnswer, Decision } from '../../policy/contracts/answer';
import type { JsonValue } from '../../policy/contracts/canonical-json';
import { Submission, type Envelope } from '../../policy/contracts/diff';
import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import { sha256Hex, sha256HexOfText } from '../../policy/contracts/hash';
import type { RollbackReason } from '../../policy/contracts/outcome';
import { isJudge } from '../../policy/contracts/readings';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { assembleFindings, errorResult, isHardBlock, type RawOutcome } from '../../policy/decide/findings';
import { cardinalityOf, matchPolicies } from '../../policy/decide/violations';
import type { EvidenceBundle, EvidenceInclusion } from '../../policy/evidence/bundle';
import { inclusionProofs, merkleRoot } from '../../policy/evidence/merkle';
import type { KeyEntry } from '../../policy/evidence/predicates';
import { signPredicate } from '../../signing/envelope';
import { attestorWith, receiptSignerWith } from '../../workers/signers';
import type { SigningKey } from '../../signing/keys';
import { signKeyEntry, signKeyRevocation } from '../../signing/registry-entry';
import type { EvidenceTrust } from '../../signing/verify-evidence';
import { compileAll, compileText } from '../../workers/compile';
import { extensionsOf } from '../../workers/extensions';
import { lookup, testRegistry, type TestKey } from './keys';
import { memoryByteStore } from './memory-byte-store';
import { memoryWithAdvisoryLock, memoryLedger, type MemoryLedger } from './memory-ledger';
import { seededKey } from './seeded-key';
import { memorySends } from './memory-sends';

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

/** Memoized: the registries are frozen, and compiling is slow. */
const ours = extensionsOf();
const compiled = new Map<string, ReturnType<typeof compileText>>();

const START = Date.parse('2026-03-01T09:00:00.000Z');
const STAGING: Omit<StagingRecord, 'statements' | 'tables'> = {
  sourceTool: 'SQLCAS',
  target: 'shop',
  origin: 'measured',
  sideEffects: [],
  fullyCaptured: true,
  uncaptured: [],
  base: { rows: [{ key: { id: 7 }, version: 3 }] },
  serverVersion: '18.0',
};

export interface WorldChange {
  readonly table: string;
  readonly requestKey?: string;
  /** Leave the submission unsigned. */
  readonly unsigned?: boolean;
  readonly answers?: readonly { readonly by: string; readonly decision: Decision }[];
  /** The row count of the dry run, and of the effect. */
  readonly rows?: number;
  /** The row count that the agent claims. Default: that of the dry run. */
  readonly claimedRows?: number;
  readonly judge?: 'ALLOW' | 'BLOCK' | 'missing';
  /** Rolls the change back for this reason after the answers, as its workflow would. */
  readonly stop?: RollbackReason;
  /** A bundle that is published after the opening, whose result is then lost: the opening is tried again. */
  readonly published?: string;
  /** Rolled back before any worker could open it. */
  readonly unopened?: boolean;
  /** Stops before anything settles it. */
  readonly open?: boolean;
}

export interface World {
  readonly ledger: MemoryLedger;
  readonly trust: EvidenceTrust;
  readonly sources: EvidenceSources;
  readonly keys: Readonly<Record<string, SigningKey>>;
  review(change: WorldChange): Promise<{ readonly changeId: string; readonly settled: Settled | CommitResult | null }>;
  /** By the operator, at a time on the world's clock. */
  revoke(person: string, revokedAt: string): void;
  export(changeId: string, options?: { readonly bytes: boolean }): Promise<EvidenceBundle>;
}

export function evidenceWorld(options: { readonly bundleText?: string; readonly checkpoint?: boolean } = {}): World {
  const { bundleText = WORLD_BUNDLE, checkpoint = true } = options;
  let clock = START;
  const now = (): Date => new Date((clock += 1000));
  const operator = seededKey('operator');
  const registered = new Map<
    string,
    { readonly key: SigningKey; readonly entry: KeyEntry; readonly envelope: Envelope }
  >();
  const keys: Record<string, SigningKey> = { operator };
  const add = (name: string, label: Pick<KeyEntry, 'kind' | 'subject'> & { onBehalfOf?: string }): SigningKey => {
    const key = seededKey(name);
    const entry = {
      onBehalfOf: null,
      demo: false,
      ...label,
      publicKey: key.publicKey,
      addedAt: '2026-01-01T00:00:00.000Z',
    };
    const envelope = signKeyEntry(entry, operator);
    registered.set(key.keyId, { key, entry: { ...entry, keyId: key.keyId, operatorKeyId: operator.keyId }, envelope });
    return (keys[name] = key);
  };
  const committer = add('committer', { kind: 'committer', subject: { type: 'service', id: 'committer' } });
  const attestorKey = add('attestor', { kind: 'attestor', subject: { type: 'service', id: 'review-worker' } });
  const judgeKey = add('judge', { kind: 'attestor', subject: { type: 'service', id: 'judge-worker' } });
  const agent = add('agent', { kind: 'service', subject: { type: 'agent', id: 'shop-agent' }, onBehalfOf: 'dana' });
  for (const person of ['alice', 'bob', 'dana'])
    add(person, { kind: 'approver', subject: { type: 'person', id: person } });
  const revocations = new Map<string, { readonly envelope: Envelope; readonly revokedAt: string }>();
  const testKeys = (): TestKey[] =>
    [...registered.values()].map(({ key, entry }) => ({
      ...key,
      entry: { ...entry, revokedAt: revocations.get(entry.keyId)?.revokedAt ?? null },
    }));

  const store = memoryByteStore();
  const ledger = memoryLedger();
  const effect = { rows: 1, table: '' };
  const tool = approvingTool(effect);
  const { validators, callbacks } = ours;
  const extensions = { validators, callbacks, sourceTools: sourceToolRegistry([tool]) };
  const revisions: { readonly envelope: Envelope; readonly bundleText: string }[] = [];
  const publish = (text: string): void => {
    const plans = compileAll(text, extensions).map(({ target, sourceTool, planHash }) => ({
      target,
      sourceTool,
      planHash,
    }));
    const revision = {
      revision: revisions.length + 1,
      bundleSha: sha256HexOfText(text),
      plans,
      keyId: operator.keyId,
      issuedAt: '2026-02-01T00:00:00.000Z',
    };
    revisions.unshift({ envelope: signPredicate('policy-revision', revision, operator), bundleText: text });
  };
  publish(bundleText);
  const policy = {
    revisions: { list: async () => revisions, revocations: async () => [] },
    ...operatorVerifier([operator.publicKey]),
    compile: (text: string, target: string, sourceTool: string) => {
      const key = `${target} ${sourceTool} ${text}`;
      const plan = compiled.get(key) ?? compileText(text, extensions, target, sourceTool);
      compiled.set(key, plan);
      return plan;
    },
  };
  const planSource = createPlanSource({ ...policy, now: () => clock });
  const registry = {
    ...testRegistry(),
    snapshot: async () => ({ find: lookup(...testKeys()), keys: testKeys().map((k) => k.entry), ignored: [] }),
    activeKeysOf: (persons: readonly string[]) => testRegistry(...testKeys()).activeKeysOf(persons),
  };
  const records = new Map<string, StagingRecord>();
  const staging = {
    put: async (changeId: string, sha: string, record: StagingRecord) => void records.set(`${changeId}/${sha}`, record),
    get: async (changeId: string, sha: string) => records.get(`${changeId}/${sha}`) ?? null,
  };
  const receipts = receiptSignerWith(committer);
  const targets = new Map([
    ['shop', { name: 'shop', development: false, stageUrl: 'postgres://stage', commitUrl: 'postgres://commit' }],
  ]);
  const shared = {
    store,
    ledger,
    plans: planSource,
    tools: extensions.sourceTools,
    validators,
    callbacks,
    keys: registry,
    now,
    actor: 'review-worker',
    targets,
    attestor: attestorWith(attestorKey),
  };
  const opening = createOpeningActivities({
    ...shared,
    withAdvisoryLock: memoryWithAdvisoryLock(ledger),
    readBreakers: null,
    attempt: () => 1,
    channels: [],
  });
  const guardians = createGuardianActivities(shared);
  const stage = createStagingActivities({ ...shared, actor: 'committer', staging });
  const disclosure = createDisclosureActivities(shared);
  let calls = 0;
  const answering = createAnswerActivities({ ...shared, callId: () => `call-${++calls}` });
  const committing = createCommitActivities({
    ...shared,
    actor: 'committer',
    stagingRecords: staging,
    freezes: { current: async () => null },
    operators: [],
    targetIsDevelopment: () => false,
    receipts,
    sends: () => memorySends(),
  });

  async function review(change: WorldChange): ReturnType<World['review']> {
    const raw = new TextEncoder().encode(
      JSON.stringify({ rows: [{ table: change.table, key: { id: 7 }, expect: { version: 3 }, set: { cents: 450 } }] }),
    );
    const diffSha = await store.put('acme', raw);
    const bare = Submission.parse({
      tenant: 'acme',
      target: 'shop',
      sourceTool: 'SQLCAS',
      diffSha,
      metadata: { table_name: change.table, affected_rows: change.claimedRows ?? change.rows ?? 1 },
      requestKey: change.requestKey ?? '',
    });
    const changeId = changeIdOf(bare);
    const inputSha = inputShaOf(bare);
    const statement = {
      changeId,
      inputSha,
      keyId: agent.keyId,
      onBehalfOf: 'dana',
      nonce: `submission-${changeId.slice(0, 16)}`,
      issuedAt: now().toISOString(),
    };
    const submission: Submission =
      change.unsigned === true ? bare : { ...bare, envelope: signPredicate('submission', statement, agent) };
    effect.rows = change.rows ?? 1;
    effect.table = change.table;

    if (change.unopened === true) {
      const never = {
        changeId,
        submission,
        inputSha,
        planHash: null,
        stagingSha: null,
        fingerprint: null,
        mode: 'enforced' as const,
      };
      const ended = { ...never, reason: 'expired' as const, explanation: 'Not opened' };
      return { changeId, settled: await inActivity(() => committing.rollback(ended)) };
    }
    let opened: Opened = await opening.openReview({ changeId, submission });
    if (change.published !== undefined) {
      publish(change.published);
      opened = await opening.openReview({ changeId, submission });
    }
    const { plan, planHash, requester } = opened;
    const { tenant, target, sourceTool, metadata } = submission;
    const ref = { changeId, tenant, target, sourceTool, diffSha, metadata, inputSha, planHash };
    const outcomes = new Map<string, RawOutcome>();
    const record = (results: Readonly<Record<string, unknown>>): void =>
      Object.entries(results).forEach(([id, result]) => outcomes.set(id, { kind: 'result', result }));
    record(opened.results);
    const units = new Set(
      plan.validators.filter((v) => v.kind === 'derived' && !v.needsStaging && v.unit !== 'builtin').map((v) => v.unit),
    );
    for (const unit of units) record(await guardians.runGuardians({ ...ref, unit }));
    const assembled = (): ValidatorFinding[] => assembleFindings({ plan, changeId, outcomes });
    let stagingSha: string | null = null;
    let fingerprint: string | null = null;
    const rollback = async (reason: RollbackReason): ReturnType<World['review']> => {
      const input = {
        changeId,
        submission,
        inputSha,
        planHash,
        stagingSha,
        fingerprint,
        mode: plan.mode,
        reason,
        explanation: `Ended: ${reason}`,
      };
      return { changeId, settled: await inActivity(() => committing.rollback(input)) };
    };
    if (assembled().some((f) => outcomes.has(f.validator_id) && isHardBlock(f))) return rollback('forbidden');

    const staged = await inActivity(() => stage.stage(ref));
    if (staged.kind !== 'staged') return rollback(staged.kind === 'refused' ? 'forbidden' : 'commit_failed');
    stagingSha = staged.stagingSha;
    record(staged.results);
    for (const validator of plan.validators) {
      if (!isJudge(validator)) continue;
      if (change.judge === 'missing') {
        const error = {
          errorClass: 'ErrValidatorBackend',
          reason: 'No judge',
          reasonCode: 'judge_away',
          reproducible: false,
        } as const;
        record({ [validator.id]: errorResult(validator.id, changeId, error) });
        continue;
      }
      const said = change.judge ?? 'ALLOW';
      const result = {
        validator_id: validator.id,
        status: said,
        reason: said === 'ALLOW' ? '' : 'It looks odd',
        evidenceRefs: said === 'ALLOW' ? [] : [`diff:${diffSha}#L1`],
      };
      const given = { inputSha, stagingSha, planHash, logicHash: validator.logic_hash };
      const attestation = {
        kind: 'judge' as const,
        subject: validator.id,
        logicHash: validator.logic_hash,
        stagingSha,
        given,
        result: result as unknown as JsonValue,
      };
      const at = now().toISOString();
      await ledger.append(changeId, [attest(attestorWith(judgeKey), ref, attestation, at, 'judge-worker')]);
      record({ [validator.id]: result });
    }

    const findings = assembled();
    const triggered = matchPolicies(plan, findings, cardinalityOf(staged.record));
    const admitted: AdmittedAnswer[] = [];
    if (triggered.length > 0) {
      const disclosed = await disclosure.disclose({ ...ref, stagingSha, requester, findings, triggered });
      fingerprint = disclosed.fingerprint;
      for (const { by, decision } of change.answers ?? []) {
        const key = seededKey(by);
        const answers = disclosed.violations.map((v) =>
          signPredicate(
            'answer',
            {
              changeId,
              fingerprint: disclosed.fingerprint,
              violationId: v.violationId,
              decision,
              reason: decision === 'reject' ? 'Prices move on Mondays only' : 'Looked at both rows',
              keyId: key.keyId,
              context: { tenant, target, environment: 'production' },
              coverage: null,
              nonce: `answer-${by}-${v.violationId.slice(0, 16)}`,
              issuedAt: now().toISOString(),
              expiresAt: new Date(clock + 3_600_000).toISOString(),
            },
            key,
          ),
        );
        const violations = disclosed.violations.map((v) => ({ ...v, members: plan.groups[v.group]?.members ?? [] }));
        const done = await answering.admitAnswer({
          changeId,
          context: { tenant, target, environment: 'production' },
          answersMode: 'signed',
          development: false,
          fingerprint,
          closed: false,
          requester,
          violations,
          admitted,
          message: { answers },
          via: 'update',
        });
        admitted.push(...done.admitted);
      }
    }
    if (change.open === true) return { changeId, settled: null };
    if (change.stop !== undefined) return rollback(change.stop);
    if (admitted.some((a) => a.decision === 'reject')) return rollback('declined');
    const settled = await inActivity(() => committing.commit({ changeId, planHash, stagingSha, fingerprint }));
    if (settled.state === 'REFUSED') return rollback(settled.reason);
    return { changeId, settled };
  }

  const sources: EvidenceSources = {
    ledger,
    store,
    policy,
    keys: {
      envelopesOf: async (ids) =>
        ids.flatMap((keyId) => {
          const known = registered.get(keyId);
          return known === undefined
            ? []
            : [{ keyId, entry: known.envelope, revocation: revocations.get(keyId)?.envelope ?? null }];
        }),
    },
    inclusion: { covering: async (changeId) => (checkpoint ? inclusionOf(ledger, changeId, committer) : null) },
    history: async () => null,
  };
  return {
    ledger,
    keys,
    sources,
    trust: { operators: [operator.publicKey], committers: [committer.publicKey] },
    review,
    revoke(person, revokedAt) {
      const { keyId } = seededKey(person);
      revocations.set(keyId, {
        revokedAt,
        envelope: signKeyRevocation({ keyId, reason: 'lost', revokedAt }, operator),
      });
    },
    export: (changeId, asked = { bytes: true }) => exportEvidence(sources, changeId, asked),
  };
}

function inclusionOf(ledger: MemoryLedger, changeId: string, key: SigningKey): EvidenceInclusion {
  const all = ledger.all;
  const hashes = all.map(({ hash }) => hash);
  const indices = all.flatMap(({ row }, leaf) => (row.changeId === changeId ? [leaf] : []));
  const head = { size: all.length, rootHash: merkleRoot(hashes), keyId: key.keyId, at: '2026-03-01T12:00:00.000Z' };
  const proofs = inclusionProofs(hashes, indices);
  return {
    checkpoint: signPredicate('checkpoint', head, key),
    leaves: indices.map((leaf, i) => ({ leaf, proof: proofs[i] ?? [] })),
  };
}

/** Reads `SQLCAS` as the real tool does; its target takes everything, and reports the rows and the table that it is given. */
function approvingTool(target: { readonly rows: number; readonly table: string }): SourceTool {
  return {
    ...sqlCas,
    staging: async () => ({
      stage: async ({ diff }: { readonly diff: { readonly raw: Uint8Array } }) => {
        const record: StagingRecord = {
          ...STAGING,
          statements: [{ sha: sha256Hex(diff.raw), command: 'UPDATE', rowCount: target.rows }],
          tables: [
            {
              table: target.table,
              inserted: 0,
              updated: target.rows,
              deleted: 0,
              touchedSha: sha256HexOfText('touched'),
              keyed: true,
              volatileColumns: [],
            },
          ],
        };
        return { kind: 'staged' as const, record, preview: {} };
      },
      commit: async () => ({
        kind: 'applied' as const,
        effect: { rows: { [target.table]: target.rows } },
        replayed: false,
      }),
      readBack: async () => ({ found: false as const }),
      seal: async () => ({ found: false as const }),
    }),
  };
}
