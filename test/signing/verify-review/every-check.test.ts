import { findingsIn } from '../../support/review/written-findings';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import type { LedgerKind, LedgerRow } from '../../../policy/contracts/ledger';
import { sha256HexOfText } from '../../../policy/contracts/hash';
import { COMPUTED_BY_ASSEMBLY } from '../../../policy/decide/findings';
import { evidenceChecksum, type EvidenceBundle } from '../../../policy/evidence/bundle';
import { messageDigest, openEnvelope } from '../../../policy/evidence/dsse';
import { AggregateRecord } from '../../../policy/rules/aggregate/aggregate';
import { signPredicate } from '../../../signing/envelope';
import { signKeyEntry } from '../../../signing/registry-entry';
import { answerFactKey } from '../../../signing/verify-answers';
import { recordOf, verifyEvidence } from '../../../signing/verify-evidence';
import { verifyReview } from '../../../signing/verify-review';
import { CHECKS, type CheckName, type Need } from '../../../signing/verify-review/checks';
import {
  RECORD_ONLY,
  type CheckResult,
  type ReviewRecord,
  type ReviewSources,
} from '../../../signing/verify-review/record';
import { evidenceWorld, WORLD_BUNDLE, type World } from '../../support/review/evidence-world';
import { chained, isJudgeRecord, resigned, rewritten } from '../../support/review/ledger-rows';
import { seededKey } from '../../support/seeded-key';

const LIMITED = WORLD_BUNDLE.replace(
  '  - judge:',
  '  - aggregate: { name: few_rows, window: 1d, limits: { rows: 5 } }\n  - judge:',
);
const YES = [
  { by: 'alice', decision: 'confirm' },
  { by: 'bob', decision: 'confirm' },
] as const;
const OTHER = 'f'.repeat(64);
const LONG_AGO = '2026-03-01T08:00:00.000Z';

interface Given {
  readonly record: ReviewRecord;
  readonly sources: ReviewSources;
}

/** One committed review: as its evidence file, and as the committer saw it just before the commit. */
let world: World;
let bundle: EvidenceBundle;
let commit: Given;
let evidence: Given;
beforeAll(async () => {
  world = evidenceWorld({ bundleText: LIMITED });
  const { changeId } = await world.review({ table: 'public.prices', answers: YES });
  bundle = await world.export(changeId);
  evidence = evidenceOf(bundle);
  commit = commitOf(bundle);
}, 60_000);

const NOTHING: ReviewSources = { ...RECORD_ONLY, context: 'evidence', trust: null };

function evidenceOf(file: EvidenceBundle): Given {
  return { record: recordOf(file), sources: { ...NOTHING, trust: world.trust } };
}

function commitOf(file: EvidenceBundle): Given {
  const intent = file.rows.findIndex(({ row }) => row.kind === 'intent');
  const { planHash, stagingSha, fingerprint } = bodyOf(file, 'intent') as unknown as NonNullable<ReviewRecord['asked']>;
  const plan = file.policy?.plan ?? unreachable();
  const { facts } = verifyReview(recordOf(file), { ...NOTHING, trust: world.trust });
  const derived = new Set(plan.validators.filter((v) => v.kind === 'derived').map((v) => v.id));
  const results = file.findings
    .filter((f) => derived.has(f.validator_id) && !COMPUTED_BY_ASSEMBLY.has(f.validator_id))
    .map(({ phase: _phase, class: _class, logic_hash: _hash, ...result }) => [result.validator_id, result]);
  const sum = facts.records?.find(({ kind }) => kind === 'aggregate') ?? unreachable();
  return {
    record: {
      ...recordOf(file),
      rows: file.rows.slice(0, intent),
      asked: { planHash, stagingSha, fingerprint },
      file: null,
    },
    sources: {
      ...NOTHING,
      context: 'commit',
      at: file.rows[intent]?.row.at ?? '',
      policy: { ok: true, value: { revision: 1 } },
      keys: facts.keys ?? null,
      derived: { ok: true, value: Object.fromEntries(results) },
      sums: {
        ok: true,
        value: {
          own: bodyOf(file, 'submitted')['measure'] ?? null,
          needed: new Map([[sum.subject, AggregateRecord.parse(sum.record)]]),
        },
      },
      rejects: [],
      factsSha: { ok: true, value: String(bodyOf(file, 'submitted')['factsSha']) },
      nonces: file.rows.flatMap(({ row }) => spentBy(row)),
      target: { mode: 'enforced', development: false },
    },
  };
}

function spentBy(row: LedgerRow): NonNullable<ReviewSources['nonces']> {
  const opened = row.kind === 'answer_accepted' ? openEnvelope('answer', row.body['answer']) : null;
  if (opened?.ok !== true) return [];
  const { keyId, nonce, violationId } = opened.statement.predicate;
  const factKey = answerFactKey({ violationId, digest: messageDigest(row.body['answer']) });
  return [{ keyId, nonce, changeId: row.changeId, factKey }];
}

function unreachable(): never {
  throw new Error('unreachable');
}

function bodyOf({ rows }: Pick<EvidenceBundle, 'rows'>, kind: LedgerKind): LedgerRow['body'] {
  return rows.find(({ row }) => row.kind === kind)?.row.body ?? unreachable();
}

type Edit = (rows: LedgerRow[]) => readonly LedgerRow[];

/** A database writer changes any row and recomputes the chain. */
function rechained(rows: EvidenceBundle['rows'] | ReviewRecord['rows'], edit: Edit): EvidenceBundle['rows'] {
  return chained(edit(structuredClone(rows.map(({ row }) => row))));
}

/** The same for a file; the checkpoint cannot be forged, so it is omitted. */
function refiled(edit: Edit, more: Partial<EvidenceBundle> = {}): Given {
  return sealed({ ...rewritten(bundle, edit), ...more });
}

function sealed(more: Partial<EvidenceBundle>): Given {
  const file = { ...bundle, ...more };
  return evidenceOf({ ...file, sha256: evidenceChecksum(file) });
}

const committing = (edit: Edit): Given => ({
  ...commit,
  record: { ...commit.record, rows: rechained(commit.record.rows, edit) },
});
const asking = (more: Partial<NonNullable<ReviewRecord['asked']>>): Given => ({
  ...commit,
  record: { ...commit.record, asked: { ...(commit.record.asked ?? unreachable()), ...more } },
});
const supplying = (more: Partial<ReviewSources>): Given => ({ ...commit, sources: { ...commit.sources, ...more } });
const setting =
  (kind: LedgerKind, more: object): Edit =>
  (rows) => {
    Object.assign(rows.find((row) => row.kind === kind)?.body ?? unreachable(), more);
    return rows;
  };
const inserting =
  (make: (rows: readonly LedgerRow[]) => LedgerRow): Edit =>
  (rows) => [...rows, { ...make(rows), at: rows.at(-1)?.at ?? '' }];

function withKey(name: string, more: object): Given {
  const { keyId } = seededKey(name);
  const find = commit.sources.keys ?? unreachable();
  return supplying({
    keys: (id) => {
      const key = find(id);
      return key !== undefined && id === keyId ? { ...key, ...more } : key;
    },
  });
}

/** An additional row with an answer signed by `by`, as a database writer could insert it. */
function answerRow(by: string, more: object): Edit {
  return inserting((rows) => {
    const row = structuredClone(rows.find(({ kind }) => kind === 'answer_accepted') ?? unreachable());
    const opened = openEnvelope('answer', row.body['answer']);
    if (!opened.ok) throw new Error(opened.message);
    const key = seededKey(by);
    const predicate = { ...opened.statement.predicate, nonce: 'another-nonce-of-it', ...more, keyId: key.keyId };
    return { ...row, body: { ...row.body, answer: signPredicate('answer', predicate, key) as never, person: by } };
  });
}

/** The row of a withdrawal that `by` signed, as a database writer could insert it. */
function withdrawnRow(by: string): Edit {
  return inserting((rows) => {
    const { keyId } = seededKey(by);
    const { changeId, at } = rows[0] ?? unreachable();
    const members = { changeId, keyId, actor: by, reason: '', nonce: 'a-nonce-of-this-row', issuedAt: at };
    const statement = signPredicate('withdraw', members, seededKey(by)) as never;
    const body = { statement, by: null, other: null, explanation: `Withdrawn by ${by}` };
    return { ...(rows.at(-1) ?? unreachable()), kind: 'withdrawn', body };
  });
}

/** A record of the judge, signed by `by`. */
function judgeRow(by: string, more: object): Edit {
  return inserting((rows) => {
    const row = rows.find(isJudgeRecord) ?? unreachable();
    const opened = openEnvelope('attested', row.body['envelope']);
    if (!opened.ok) throw new Error(opened.message);
    const key = seededKey(by);
    const predicate = { ...opened.statement.predicate, ...more, keyId: key.keyId };
    return { ...row, body: { envelope: signPredicate('attested', predicate, key) as never } };
  });
}

/** The file without the rows after the first one of this kind. */
function cutAfter(kind: LedgerKind): Given {
  const rows = bundle.rows.slice(0, bundle.rows.findIndex(({ row }) => row.kind === kind) + 1);
  return sealed({ rows, head: { rows: rows.length, hash: rows.at(-1)?.hash ?? '' }, inclusion: null });
}

/** The file with another head, signed by `by`. */
function headed(more: object, by = 'committer'): Given {
  return refiled((rows) => {
    const body = rows.find(({ kind }) => kind === 'head')?.body ?? unreachable();
    const opened = openEnvelope('change-head', body['envelope']);
    if (!opened.ok) throw new Error(opened.message);
    const key = seededKey(by);
    const head = { ...opened.statement.predicate, ...more, keyId: key.keyId };
    return setting('head', { envelope: signPredicate('change-head', head, key) })(rows);
  });
}

/** A committer that signs a receipt which the rows contradict. */
const lying = (more: object): Given => sealed(resigned(bundle, seededKey('committer'), more));

/** The row of a guardian of the dry run, whose finding was disclosed as ALLOW. */
const writtenAsBlock: Edit = (rows) => {
  const [finding] = rows.flatMap(findingsIn).filter((f) => f.validator_id === 'guardian.metadata_mismatch');
  Object.assign(finding ?? unreachable(), {
    status: 'BLOCK',
    reason: 'the claim is wrong',
    evidenceRefs: ['diff:x'],
  });
  return rows;
};

/** Attacks against each check by someone who can write to the database or call any activity in the namespace. */
const ATTACKS: Readonly<Record<CheckName, readonly (readonly [attack: string, given: () => Given])[]>> = {
  checksum: [['the checksum of a damaged file', () => evidenceOf({ ...bundle, sha256: OTHER })]],
  chain: [
    [
      'a row is changed in place',
      () => {
        const rows = commit.record.rows.map((r, i) => (i === 2 ? { ...r, row: { ...r.row, actor: 'x' } } : r));
        return { ...commit, record: { ...commit.record, rows } };
      },
    ],
    [
      'a row is added after the head of the file',
      () => {
        const rows = rechained(bundle.rows, (all) => [
          ...all,
          { ...(all[0] ?? unreachable()), kind: 'answer_refused' },
        ]);
        return sealed({ rows, inclusion: null });
      },
    ],
  ],
  order: [
    [
      'a second disclosure follows',
      () => committing((rows) => [...rows, rows.find((r) => r.kind === 'disclosed') ?? unreachable()]),
    ],
    [
      'a second receipt follows',
      () => refiled((rows) => [...rows, rows.find((r) => r.kind === 'receipt') ?? unreachable()]),
    ],
  ],
  checkpoint: [
    [
      'rows are omitted from the tree',
      () => sealed({ inclusion: { ...(bundle.inclusion ?? unreachable()), leaves: [] } }),
    ],
    [
      'rows are rewritten after the checkpoint',
      () => refiled((rows) => rows.map((r) => ({ ...r, actor: `${r.actor}!` })), { inclusion: bundle.inclusion }),
    ],
  ],
  receipt: [
    [
      'a committer that the verifier does not trust',
      () => {
        const given = sealed({ inclusion: null });
        const trust = { ...world.trust, committers: [seededKey('mallory').publicKey] };
        return { ...given, sources: { ...given.sources, trust } };
      },
    ],
    ['the unsigned copy of the receipt is changed', () => refiled(setting('receipt', { predicate: {} }))],
  ],
  head: [
    ['every row after `closed` is removed', () => cutAfter('closed')],
    ['the head is of another change', () => headed({ changeId: OTHER })],
    ['the head is of fewer rows', () => headed({ rows: 3 })],
    ['the head is of other rows', () => headed({ hash: OTHER })],
    ['the head is signed by a committer that the verifier does not trust', () => headed({}, 'mallory')],
    [
      'an answer is accepted after the head',
      () => refiled((rows) => [...rows, { ...(rows[0] ?? unreachable()), kind: 'answer_accepted', body: {} }]),
    ],
  ],
  bound_words: [
    ['the receipt is of another explanation', () => lying({ explanationSha: OTHER })],
    ['the receipt is of other findings', () => lying({ findingsSha: OTHER })],
    ['the receipt of a commit binds no findings', () => lying({ findingsSha: null })],
    ['the receipt is of other violations', () => lying({ violationsSha: OTHER })],
    ['the receipt is of other rows', () => lying({ headSha: OTHER })],
    ['the explanation is changed', () => refiled(setting('receipt', { explanation: 'alice approved it' }))],
    [
      'the explanation of the effect is changed',
      () => refiled(setting('effect', { explanation: 'alice approved it' })),
    ],
  ],
  submission: [
    ['the row names another input', () => committing(setting('submitted', { inputSha: OTHER }))],
    [
      'the submission is replaced by that of another change',
      () =>
        committing((rows) =>
          setting('submitted', { submission: { ...(rows[0]?.body['submission'] as object), requestKey: 'other' } })(
            rows,
          ),
        ),
    ],
    [
      'the file has another submission than the row',
      () => sealed({ submission: { ...(bundle.submission ?? unreachable()), requestKey: 'other' } }),
    ],
  ],
  bytes: [
    [
      'the bytes do not match the digest',
      () => ({ ...commit, record: { ...commit.record, bytes: { ok: true, value: Uint8Array.of(1) } } }),
    ],
    [
      'the store refuses the digest',
      () => ({ ...commit, record: { ...commit.record, bytes: { ok: false, explanation: 'DIGEST_MISMATCH' } } }),
    ],
  ],
  plan: [
    ['a workflow asks to commit under another plan', () => asking({ planHash: OTHER })],
    ['the row names a weaker plan', () => committing(setting('planned', { planHash: OTHER }))],
    ['the row names another mode', () => committing(setting('planned', { mode: 'cooperative' }))],
    [
      'the plan is changed under its hash',
      () => ({
        ...commit,
        record: { ...commit.record, plan: { ...(commit.record.plan ?? unreachable()), domain: 'other' } },
      }),
    ],
  ],
  policy: [
    ['the policy was revoked', () => supplying({ policy: { ok: false, explanation: 'policy_moved: it is revoked' } })],
    ['another revision with the same plan', () => supplying({ policy: { ok: true, value: { revision: 2 } } })],
    [
      'the policy was revoked before the commit, and it was committed',
      () => {
        const bundleSha = sha256HexOfText(LIMITED);
        const { keyId } = seededKey('operator');
        const said = { revision: 1, bundleSha, reason: 'wrong', keyId, revokedAt: LONG_AGO };
        const revocation = signPredicate('policy-revocation', said, seededKey('operator'));
        return sealed({ policy: { ...(bundle.policy ?? unreachable()), revocation } });
      },
    ],
  ],
  target: [
    [
      'a target that this committer does not serve',
      () => supplying({ target: { mode: 'enforced', development: null } }),
    ],
    [
      'a tool without effects under an enforced plan',
      () => supplying({ target: { mode: 'cooperative', development: false } }),
    ],
  ],
  keys: [
    [
      'a database writer registers an approver',
      () => {
        const mallory = seededKey('mallory');
        const label = {
          kind: 'approver',
          subject: { type: 'person', id: 'bob' },
          onBehalfOf: null,
          demo: false,
        } as const;
        const grant = { tenants: ['*'], rights: ['answer' as const] };
        const entry = signKeyEntry({ ...label, ...grant, publicKey: mallory.publicKey, addedAt: LONG_AGO }, mallory);
        return sealed({ keys: [{ entry, revocation: null }, ...bundle.keys.slice(1)] });
      },
    ],
    ['a registry entry is omitted', () => sealed({ keys: bundle.keys.slice(1) })],
  ],
  settlement: [
    ['the commit began on another plan', () => refiled(setting('intent', { planHash: OTHER }))],
    ['the intent is removed', () => refiled((rows) => rows.filter((row) => row.kind !== 'intent'))],
    ['the effect of another change', () => refiled(setting('effect', { effect: { rows: {} } }))],
    ['the receipt of another tenant', () => lying({ tenant: 'other' })],
  ],
  effect: [
    [
      'a receipt names an operator who signed no statement',
      () => lying({ effect: { resolution: { keyId: seededKey('operator').keyId, resolvedAt: LONG_AGO } } }),
    ],
  ],
  staging: [
    ['a workflow asks to commit another dry run', () => asking({ stagingSha: OTHER })],
    [
      'the staging record is changed',
      () => ({
        ...commit,
        record: { ...commit.record, staging: { ...(commit.record.staging ?? unreachable()), tables: [] } },
      }),
    ],
    [
      'there is no dry run',
      () => {
        const given = asking({ stagingSha: null });
        return { ...given, record: { ...given.record, staging: null } };
      },
    ],
    ['the row has another record under the hash', () => committing(setting('staged', { record: {} }))],
  ],
  preview: [
    ['the rows that people are shown are changed', () => sealed({ preview: { tables: [], moreTables: 0 } })],
    [
      'a cell of a row is changed',
      () => {
        const text = JSON.stringify(bundle.preview ?? unreachable());
        return sealed({ preview: JSON.parse(text.replace('"stock":"2"', '"stock":"3"')) as JsonObject });
      },
    ],
  ],
  requester: [
    ['the service key was revoked', () => withKey('agent', { revokedAt: LONG_AGO })],
    ['the key of an approver signs a submission', () => withKey('agent', { kind: 'approver' })],
  ],
  withdrawal: [
    ['a commit of a change that its requester withdrew', () => committing(withdrawnRow('agent'))],
    ['a commit of a change whose withdrawal does not verify', () => committing(withdrawnRow('mallory'))],
    [
      'a commit of a change whose withdrawal has a key that was revoked before',
      () => {
        const { sources } = withKey('dana', { revokedAt: LONG_AGO });
        return { ...committing(withdrawnRow('dana')), sources };
      },
    ],
  ],
  attested: [
    ['a record signed by an unregistered key', () => committing(judgeRow('mallory', {}))],
    ['a record signed by an approver', () => committing(judgeRow('alice', {}))],
    ['a judgement on another input', () => committing(judgeRow('judge', { inputDigest: OTHER }))],
    ['the record of another change', () => committing(judgeRow('judge', { changeId: OTHER }))],
  ],
  sums: [
    [
      'a limit over many changes omits a change',
      () => {
        const sums = commit.sources.sums?.ok === true ? commit.sources.sums.value : unreachable();
        const more = { changeId: OTHER, bytes: 1, operations: 1, deletions: 0, rows: 1, places: 1 };
        const needed = new Map([...sums.needed].map(([id, r]) => [id, { ...r, counted: [more, ...r.counted] }]));
        return supplying({ sums: { ok: true, value: { ...sums, needed } } });
      },
    ],
    [
      'the measure of the change is larger than in its row',
      () => {
        const sums = commit.sources.sums?.ok === true ? commit.sources.sums.value : unreachable();
        return supplying({ sums: { ok: true, value: { ...sums, own: { ...(sums.own as object), bytes: 1 } } } });
      },
    ],
  ],
  findings: [
    ['a finding is disclosed as milder than in its row', () => committing(writtenAsBlock)],
    [
      'the judge is asked until it allows',
      () =>
        committing(
          judgeRow('judge', {
            result: { validator_id: 'guardian.llm_judge', status: 'BLOCK', reason: 'no', evidenceRefs: ['diff:x'] },
          }),
        ),
    ],
    ['the key of the judge was revoked', () => withKey('judge', { revokedAt: LONG_AGO })],
    ['the file has other findings than the rows', () => sealed({ findings: bundle.findings.slice(1) })],
  ],
  recomputed: [
    [
      'a finding was not disclosed and was removed from every row',
      () => {
        const derived = commit.sources.derived?.ok === true ? commit.sources.derived.value : unreachable();
        const id = 'guardian.metadata_mismatch';
        const found = { validator_id: id, status: 'BLOCK', reason: 'the claim is wrong', evidenceRefs: ['diff:x'] };
        return supplying({ derived: { ok: true, value: { ...derived, [id]: found } } });
      },
    ],
    [
      'this process has other logic',
      () => supplying({ derived: { ok: false, explanation: 'policy_moved: other logic' } }),
    ],
  ],
  previously_rejected: [
    [
      'a rejected change is submitted again under another request key',
      () => supplying({ rejects: [{ changeId: OTHER, n: 9, at: LONG_AGO }] }),
    ],
    ['the row has the facts of another change', () => supplying({ factsSha: { ok: true, value: OTHER } })],
  ],
  disclosure: [
    ['a workflow asks with another fingerprint', () => asking({ fingerprint: OTHER })],
    ['a workflow asks without a fingerprint', () => asking({ fingerprint: null })],
    ['fewer violations were disclosed', () => committing(setting('disclosed', { violations: [] }))],
    ['the row names another fingerprint', () => committing(setting('disclosed', { fingerprint: OTHER }))],
    ['the row does not say who could answer', () => committing(setting('disclosed', { reachable: 'alice' }))],
    [
      'a callback result that was never signed',
      () => committing(setting('disclosed', { callbackResults: { x: { passed: true, message: null } } })),
    ],
  ],
  answers: [
    ['an answer by an unregistered key', () => committing(answerRow('mallory', {}))],
    ['an answer to another change', () => committing(answerRow('bob', { changeId: OTHER }))],
    [
      'an answer without a signature',
      () =>
        committing((rows) => {
          const row = rows.find(({ kind }) => kind === 'answer_accepted') ?? unreachable();
          const { fingerprint } = rows.find(({ kind }) => kind === 'disclosed')?.body ?? unreachable();
          const answer = { violationId: OTHER, fingerprint, decision: 'confirm', reason: '', actor: 'alice' };
          return [...rows, { ...row, body: { ...row.body, answer: answer as never } }];
        }),
    ],
  ],
  nonces: [['an answer that was never admitted', () => committing(answerRow('bob', {}))]],
  standing_reject: [
    [
      'a reject on another fingerprint, before a reset',
      () => committing(answerRow('bob', { decision: 'reject', fingerprint: OTHER, violationId: OTHER })),
    ],
  ],
  decision: [
    ['a confirmation is missing', () => committing((rows) => rows.filter((row) => row.body['person'] !== 'bob'))],
    ['the key of an approver was revoked', () => withKey('bob', { revokedAt: LONG_AGO })],
  ],
  commit_window: [
    ['a commit a day after the last answer', () => supplying({ at: '2026-03-02T09:00:00.000Z' })],
    [
      'a commit that began after the window',
      () => refiled((rows) => rows.map((r) => (r.kind === 'intent' ? { ...r, at: '2026-03-01T10:30:00.000Z' } : r))),
    ],
  ],
};

const failed = (checks: readonly CheckResult[]): string[] =>
  checks.filter(({ result }) => result === 'failed').map(({ name }) => name);
const verify = ({ record, sources }: Given) => verifyReview(record, sources);

test('an unmodified review passes every check, in the committer and as evidence', () => {
  for (const given of [commit, evidence]) {
    const { ok, checks } = verify(given);
    expect(checks.filter(({ result, required }) => required && result !== 'ok')).toEqual([]);
    expect(ok).toBe(true);
  }
  expect(verify(commit).checks.map(({ result }) => result)).not.toContain('not_checked');
});

/** Each row is also bound by the receipt or the head that follow it, so these checks fail for every file with changed rows. */
const BINDING_ALL_ROWS: ReadonlySet<string> = new Set<CheckName>(['head', 'bound_words']);

test('every check has at least one attack that it must stop', () => {
  expect(Object.keys(ATTACKS).sort()).toEqual(CHECKS.map(({ name }) => name).sort());
  expect(CHECKS.filter(({ name }) => ATTACKS[name].length === 0)).toEqual([]);
});

describe.each(CHECKS)('$name: $proves', ({ name }) => {
  test.each(ATTACKS[name])('is the only check that fails when %s', (_attack, given) => {
    const { ok, checks } = verify(given());
    expect(failed(checks)).toContain(name);
    expect(failed(checks).filter((other) => other === name || !BINDING_ALL_ROWS.has(other))).toEqual([name]);
    expect(ok).toBe(false);
  });
});

test('format: a file that cannot be read fails, and no other check is made', () => {
  const { verdict, checks } = verifyEvidence('{}', world.trust);
  expect(verdict).toBe('failed');
  expect(failed(checks)).toEqual(['format']);
  expect(checks.filter(({ result }) => result === 'ok')).toEqual([]);
});

test.each<[string, (given: Given) => Given, CheckName]>([
  ['bytes', ({ record, sources }) => ({ record: { ...record, bytes: null }, sources }), 'bytes'],
  ['policy', ({ record, sources }) => ({ record, sources: { ...sources, policy: null } }), 'policy'],
  ['keys', ({ record, sources }) => ({ record, sources: { ...sources, keys: null } }), 'requester'],
  ['derived', ({ record, sources }) => ({ record, sources: { ...sources, derived: null } }), 'recomputed'],
  ['sums', ({ record, sources }) => ({ record, sources: { ...sources, sums: null } }), 'sums'],
  ['rejects', ({ record, sources }) => ({ record, sources: { ...sources, rejects: null } }), 'previously_rejected'],
  ['factsSha', ({ record, sources }) => ({ record, sources: { ...sources, factsSha: null } }), 'previously_rejected'],
  ['nonces', ({ record, sources }) => ({ record, sources: { ...sources, nonces: null } }), 'nonces'],
  ['target', ({ record, sources }) => ({ record, sources: { ...sources, target: null } }), 'target'],
])(
  'a committer without the source "%s" commits nothing, since a check that was not made does not count as passed',
  (_source, without, name) => {
    const { ok, checks } = verify(without(commit));
    expect(ok).toBe(false);
    expect(checks.find((check) => check.name === name)?.result).toBe('not_checked');
  },
);

test('offline verification reports what it cannot check as not checked, and never as passed', () => {
  const open = verify(evidence).checks.filter(({ result }) => result === 'not_checked');
  expect(open.map(({ name }) => name)).toEqual(['sums', 'recomputed', 'previously_rejected', 'nonces']);
});

test('the committer requires each check that evidence requires, except those of a review that has ended', () => {
  const missing = CHECKS.filter(
    ({ contexts: c }) => c.evidence === 'required' && (c.commit as Need) !== 'required',
  ).map(({ name }) => name);
  expect(missing).toEqual(['checksum', 'head', 'receipt', 'keys', 'settlement', 'effect', 'bound_words']);
});
