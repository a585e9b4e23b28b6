import { withoutFinding } from '../support/review/written-findings';
import { canonicalJson, type JsonObject } from '../../policy/contracts/canonical-json';
import type { LedgerRow } from '../../policy/contracts/ledger';
import { evidenceChecksum, type EvidenceBundle } from '../../policy/evidence/bundle';
import { toBase64 } from '../../policy/evidence/base64';
import { signPredicate } from '../../signing/envelope';
import { sha256HexOfText } from '../../policy/contracts/hash';
import { newKeyPair } from '../../signing/keys';
import { signKeyRevocation } from '../../signing/registry-entry';
import { verifiedReview } from '../../signing/verified-review';
import { registeredKey } from '../../signing/verify-review/registry-entries';
import { rewritten } from '../support/review/ledger-rows';
import { evidenceWorld, type World } from '../support/review/evidence-world';
import { seededKey } from '../support/seeded-key';

const NOW = '2026-03-01T10:00:00.000Z';
const WORDS = 'routine maintenance';
let world: World;
let open: EvidenceBundle;
let changeId: string;

beforeAll(async () => {
  world = evidenceWorld({ checkpoint: false });
  const answers = [{ by: 'alice', decision: 'confirm' as const }];
  ({ changeId } = await world.review({ table: 'public.prices', answers, open: true }));
  open = await world.export(changeId);
});

/** The bundle with edited rows, a chain that fits them, and its checksum. */
function edited(bundle: EvidenceBundle, edit: (row: LedgerRow) => LedgerRow | null): EvidenceBundle {
  return withChecksum(rewritten(bundle, (rows) => rows.flatMap((row) => edit(row) ?? [])));
}

function withChecksum(bundle: EvidenceBundle): EvidenceBundle {
  return { ...bundle, sha256: evidenceChecksum(bundle) };
}

/** The bundle with other members in the body of the row of this kind. */
function withBody(kind: string, change: (body: Record<string, unknown>) => object): EvidenceBundle {
  return edited(open, (row) =>
    row.kind === kind ? { ...row, body: { ...row.body, ...change(row.body) } as LedgerRow['body'] } : row,
  );
}

function differences(bundle: EvidenceBundle, trust = world.trust): string[] {
  const verdict = verifiedReview(bundle, trust, NOW);
  return verdict.ok ? [] : verdict.differences.map(({ name }) => name);
}

const reworded = (value: unknown): object =>
  JSON.parse(canonicalJson(value).replaceAll(/"reason":"[^"]+"/g, `"reason":"${WORDS}"`)) as object;

it('shows an open review from its rows: violations, who confirmed, deadline, findings, dry run, answers', () => {
  const verdict = verifiedReview(open, world.trust, NOW);
  expect(verdict).toMatchObject({ ok: true });
  if (!verdict.ok) return;
  const { status, answers, staging, preview, bytes, outcome, plan } = verdict.review;
  expect(status).toMatchObject({
    changeId,
    state: 'INTERVENTION_REQUIRED',
    reason: null,
    tenant: open.submission?.tenant,
    environment: 'production',
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    violations: [{ resolution: 'pending', confirmedBy: ['alice'], quorum: 2, mayAnswer: ['alice', 'bob'] }],
    deadlineAt: expect.any(String),
  });
  expect(status.findings).toHaveLength(plan?.validators.length ?? 0);
  expect(answers).toMatchObject([{ person: 'alice', decision: 'confirm' }]);
  expect(preview).toEqual(open.preview);
  expect(preview).toMatchObject({ tables: [{ rows: [{ before: { stock: '1' }, after: { stock: '2' } }] }] });
  expect([staging === null, bytes === null, outcome]).toEqual([false, false, null]);
});

it('names the key that submitted the change, whose it is and when the review was opened', () => {
  const verdict = verifiedReview(open, world.trust, NOW);
  expect(verdict.ok && verdict.review.submittedBy).toEqual({
    keyId: world.keys.agent.entry.keyId,
    subject: 'agent:shop-agent',
    at: open.rows[0]?.row.at,
  });
});

it('shows evidence that this process collected, which has no checksum, and still refuses a changed row of it', () => {
  const collected = { ...open, sha256: null };
  expect(verifiedReview(collected, world.trust, NOW)).toEqual(verifiedReview(open, world.trust, NOW));
  const rows = open.rows.map((r, i) => (i === 1 ? { ...r, row: { ...r.row, at: NOW } } : r));
  expect(verifiedReview({ ...collected, rows }, world.trust, NOW)).toMatchObject({ ok: false });
});

describe('a review whose policy revision was revoked', () => {
  const revokedAt = '2026-03-01T09:30:00.000Z';
  const operator = seededKey('operator');
  const revoked = (bundle: EvidenceBundle): EvidenceBundle => {
    const { policy } = bundle;
    if (policy === null) throw new Error('no policy');
    const bundleSha = sha256HexOfText(policy.bundleText);
    const said = { revision: 1, bundleSha, reason: 'wrong', keyId: operator.keyId, revokedAt };
    return withChecksum({
      ...bundle,
      policy: { ...policy, revocation: signPredicate('policy-revocation', said, operator) },
    });
  };
  const warningsOf = (bundle: EvidenceBundle): readonly string[] => {
    const verdict = verifiedReview(bundle, world.trust, NOW);
    if (!verdict.ok) throw new Error(JSON.stringify(verdict.differences));
    return verdict.review.status.warnings;
  };

  it('tells the people who are asked that it cannot be committed', () => {
    expect(warningsOf(open)).toEqual([]);
    expect(warningsOf(revoked(open))).toEqual([
      `The policy revision of this review was revoked at ${revokedAt}: this change cannot be committed; submit it again`,
    ]);
  });

  it('does not say so of a commit that began before', async () => {
    const { changeId: committed } = await world.review({ table: 'public.items', answers: [] });
    const bundle = await world.export(committed);
    expect(bundle.rows.map(({ row }) => row.kind)).toContain('intent');
    expect(warningsOf(revoked(bundle))).toEqual([]);
  });
});

it('says that a review cannot be committed if someone rejected it with a key that was revoked before', async () => {
  const own = evidenceWorld({ checkpoint: false });
  const answers = [{ by: 'bob', decision: 'reject' as const }];
  const bundle = await own.export((await own.review({ table: 'public.prices', answers, open: true })).changeId);
  const operator = seededKey('operator');
  const { keyId } = seededKey('bob');
  const rejectedAt = bundle.rows.find(({ row }) => row.kind === 'answer_accepted')?.row.at ?? '';
  const revokedAt = new Date(Date.parse(rejectedAt) - 60_000).toISOString();
  const revocation = signKeyRevocation({ keyId, reason: 'lost', revokedAt }, operator);
  const keys = bundle.keys.map((key) =>
    registeredKey(key, [operator.publicKey], null).keyId === keyId ? { ...key, revocation } : key,
  );
  const verdict = verifiedReview(withChecksum({ ...bundle, keys }), own.trust, NOW);
  expect(verdict).toMatchObject({ ok: true, review: { status: { violations: [{ resolution: 'pending' }] } } });
  expect(verdict.ok && verdict.review.status.warnings).toContain(
    `A key of bob that was revoked before rejected it at ${rejectedAt}: this change cannot be committed; submit it again`,
  );
});

it('shows no rows if they were left out, and says that the dry run has some', () => {
  const verdict = verifiedReview(withChecksum({ ...open, preview: null }), world.trust, NOW);
  expect(verdict).toMatchObject({ ok: true, review: { preview: null, staging: { previewSha: expect.any(String) } } });
});

it('shows a review that has ended with the outcome of its receipt', async () => {
  const { changeId: ended } = await world.review({ table: 'public.items' });
  const verdict = verifiedReview(await world.export(ended), world.trust, NOW);
  expect(verdict).toMatchObject({
    ok: true,
    review: { status: { state: 'COMMITTED', deadlineAt: null }, outcome: { state: 'COMMITTED', action: 'COMMIT' } },
  });
});

describe('refuses a review', () => {
  it.each<[string, () => EvidenceBundle, string]>([
    ['with a row that was changed', () => withChecksum({ ...open, rows: open.rows.map((r, i) => i === 1 ? { ...r, row: { ...r.row, at: NOW } } : r) }), 'chain'],
    ['whose file was damaged', () => ({ ...open, sha256: '0'.repeat(64) }), 'checksum'],
    ['with other bytes', () => withChecksum({ ...open, bytes: toBase64(Buffer.from('{"rows":[]}')) }), 'bytes'],
    ['without bytes', () => withChecksum({ ...open, bytes: null }), 'bytes'],
    ['with another submission', () => withBody('submitted', ({ submission }) => ({ submission: { ...(submission as object), target: 'other' } })), 'submission'],
    ['with another requester', () => withBody('submitted', () => ({ requester: 'mallory' })), 'requester'],
    ['with another plan', () => withChecksum({ ...open, policy: open.policy === null ? null : { ...open.policy, plan: { ...open.policy.plan, groups: { dba: { members: ['mallory'] } } } } }), 'plan'],
    ['without its policy', () => withChecksum({ ...open, policy: null }), 'plan'],
    ['with another dry run', () => withBody('staged', ({ record }) => ({ record: { ...(record as object), fullyCaptured: false } })), 'staging'],
    ['with another row in the preview', () => withChecksum({ ...open, preview: JSON.parse(JSON.stringify(open.preview).replace('"stock":"2"', '"stock":"1"')) as JsonObject }), 'preview'],
    ['with another violation', () => withBody('disclosed', ({ violations }) => ({ violations: (violations as object[]).map((v) => ({ ...v, message: WORDS })) })), 'disclosure'],
    ['with a hidden violation', () => withBody('disclosed', () => ({ violations: [] })), 'disclosure'],
    ['with another fingerprint', () => withBody('disclosed', () => ({ fingerprint: '0'.repeat(64) })), 'disclosure'],
    ['with an answer that was not signed like this', () => withBody('answer_accepted', ({ answer }) => ({ answer: { ...(answer as object), signatures: [{ keyid: String((answer as { signatures: { keyid: string }[] }).signatures[0]?.keyid), sig: toBase64(new Uint8Array(64)) }] } })), 'answers'],
    ['without the entry of a key', () => withChecksum({ ...open, keys: open.keys.slice(1) }), 'keys'],
  ])('%s', (_name, forge, check) => {
    expect(differences(forge())).toContain(check);
  }); // prettier-ignore

  it('whose disclosed findings have words that no row and no record has', () => {
    const findings = open.rows.find(({ row }) => row.kind === 'disclosed')?.row.body['findings'];
    expect(findings).toBeDefined();
    const forged = reworded(findings) as EvidenceBundle['findings'];
    const bundle = withBody('disclosed', () => ({ findings: forged }));
    expect(differences(withChecksum({ ...bundle, findings: forged }))).toContain('findings');
  });

  it('whose validator failed in the words of the workflow', () => {
    const id = 'guardian.usual_tables';
    const said = (f: EvidenceBundle['findings'][number]) =>
      f.validator_id === id
        ? { ...f, reason: WORDS, reasonCode: 'validator_failed', errorClass: 'ErrValidatorBackend' as const, reproducible: false }
        : f; // prettier-ignore
    const findings = open.findings.map(said);
    const without = edited(open, (row) => {
      if (row.kind === 'findings') return withoutFinding(row, id);
      return row.kind === 'disclosed' ? { ...row, body: { ...row.body, findings } as LedgerRow['body'] } : row;
    });
    expect(differences(withChecksum({ ...without, findings }))).toContain('findings');
  });

  it('whose policy or keys no trusted operator signed', () => {
    const stranger = { operators: [newKeyPair().publicKey], committers: world.trust.committers };
    expect(differences(open, stranger)).toEqual(expect.arrayContaining(['policy', 'keys']));
  });

  it('that was never opened', () => {
    const refusal = { kind: 'refused', body: { check: 'openReview', explanation: '' } } as const;
    const only = edited(open, (row) => (row.n === 0 ? { ...row, ...refusal } : null));
    const bundle = withChecksum({ ...only, submission: null, policy: null, staging: null, findings: [], keys: [], bytes: null });
    expect(differences(bundle)).not.toEqual([]);
  }); // prettier-ignore
});
