import { isDeepStrictEqual } from 'node:util';
import type { LedgerRow } from '../../policy/contracts/ledger';
import { sha256HexOfText } from '../../policy/contracts/hash';
import { evidenceChecksum, evidenceText, type EvidenceBundle } from '../../policy/evidence/bundle';
import { signPredicate } from '../../signing/envelope';
import { signKeyEntry, signKeyRevocation } from '../../signing/registry-entry';
import { verifiedReview } from '../../signing/verified-review';
import { verifyEvidence, type EvidenceReport } from '../../signing/verify-evidence';
import { isMet } from '../../signing/verify-review';
import { registeredKey } from '../../signing/verify-review/registry-entries';
import type { WorldChange } from '../support/review/evidence-review';
import { evidenceWorld, WORLD_BUNDLE, type World } from '../support/review/evidence-world';
import { isJudgeRecord, resigned, rewritten } from '../support/review/ledger-rows';
import { seededKey } from '../support/seeded-key';
import { enrolledPasskey } from '../support/seeded-passkey';

const YES = [
  { by: 'alice', decision: 'confirm' },
  { by: 'bob', decision: 'confirm' },
] as const;

const BOB_REJECTS = [{ by: 'bob', decision: 'reject' }] as const;
const REJECTED = { table: 'public.prices', rejects: { explanation: 'no such column' } } as const;
const STALE = { table: 'public.prices', rejects: { stale: true, explanation: 'the version is 4' } } as const;
const WITH_REVOKED_WITHDRAWAL = {
  table: 'public.prices',
  answers: BOB_REJECTS,
  withdrawnWithRevoked: 'alice',
} as const;

interface Exported {
  readonly world: World;
  readonly bundle: EvidenceBundle;
}
const made = new Map<string, Promise<Exported>>();

/** One review and its evidence, memoized by the change, since it is deterministic. */
function exported(change: WorldChange, checkpoint = true): Promise<Exported> {
  const key = JSON.stringify([change, checkpoint]);
  const known = made.get(key) ?? make(change, checkpoint);
  made.set(key, known);
  return known;
}

async function make(change: WorldChange, checkpoint: boolean): Promise<Exported> {
  const world = evidenceWorld({ checkpoint });
  const { changeId } = await world.review(change);
  return { world, bundle: await world.export(changeId) };
}

function verify(bundle: EvidenceBundle, world: World): EvidenceReport {
  const { sha256: _sha, ...rest } = bundle;
  return verifyEvidence(evidenceText(rest), world.trust);
}

const unchanged = new Map<string, string>();

/** The verdict on evidence that was made again as an attacker makes it, but without a change. Memoized, as the evidence is. */
function verdictUnchanged(bundle: EvidenceBundle, world: World, how: 'rewritten' | 'resigned'): string {
  const key = `${how} ${bundle.sha256}`;
  const again = () =>
    how === 'rewritten' ? rewritten(bundle, (rows) => rows) : resigned(bundle, world.keys.committer, {});
  const verdict = unchanged.get(key) ?? verify(again(), world).verdict;
  unchanged.set(key, verdict);
  return verdict;
}

/** Checks that failed, or that could not be made because another one failed. */
const unmet = (report: EvidenceReport): string[] =>
  report.checks.filter((check) => !isMet(check)).map(({ name }) => name);

describe('evidence of each outcome verifies', () => {
  it.each<[string, WorldChange, string]>([
    ['committed after two confirmations', { table: 'public.prices', answers: YES }, 'COMMITTED'],
    ['committed without a question', { table: 'public.items' }, 'COMMITTED'],
    ['declined', { table: 'public.prices', answers: [{ by: 'bob', decision: 'reject' }] }, 'declined'],
    [
      'declined, although the key of the reject was revoked after the answer',
      { table: 'public.prices', answers: BOB_REJECTS, revoked: 'bob' },
      'declined',
    ],
    ['forbidden by a static guardian', { table: 'public.vault' }, 'forbidden'],
    [
      'refused because the key of an approver was revoked after the answer',
      { table: 'public.prices', answers: YES, revoked: 'bob' },
      'commit_refused',
    ],
    [
      'committed although the judge could not answer, because two people confirmed that',
      { table: 'public.items', judge: 'missing', answers: YES },
      'COMMITTED',
    ],
    ['withdrawn', { table: 'public.prices', stop: 'withdrawn' }, 'withdrawn'],
    ['rejected in the dry run', REJECTED, 'commit_failed'],
    ['with a base that had moved before the dry run', STALE, 'stale_base'],
    ['unsigned, with an unknown requester', { table: 'public.items', unsigned: true }, 'COMMITTED'],
    [
      'committed although another policy was published before the opening was retried',
      { table: 'public.prices', answers: YES, published: WORLD_BUNDLE.replace('quorum: 2', 'quorum: 1') },
      'COMMITTED',
    ],
  ])('%s', async (_name, change, end) => {
    const { world, bundle } = await exported(change);
    const report = verify(bundle, world);
    expect(report.checks.filter((check) => !isMet(check))).toEqual([]);
    expect(report).toMatchObject({ verdict: 'verified', witnessed: true });
    expect([report.outcome?.state, report.outcome?.reason]).toContain(end);
  });

  describe.each(['agent', 'attestor', 'judge'])(
    'although the key of the %s was revoked after the disclosure',
    (revoked) => {
      it.each<[string, WorldChange]>([
        ['declined', { table: 'public.prices', answers: BOB_REJECTS, revoked }],
        ['withdrawn', { table: 'public.prices', stop: 'withdrawn', withdrawnBy: 'alice', revoked }],
        ['commit_refused', { table: 'public.prices', answers: YES, revoked }],
      ])('%s', async (reason, change) => {
        const { world, bundle } = await exported(change);
        const report = verify(bundle, world);
        expect(report.checks.filter((check) => !isMet(check))).toEqual([]);
        expect(report).toMatchObject({ verdict: 'verified', outcome: { reason } });
        expect(report.checks.map(({ detail }) => detail).join()).toContain('revoked');
      });

      it('expired', async () => {
        const world = evidenceWorld({ bundleText: WORLD_BUNDLE.replace('quorum: 2,', 'quorum: 2, deadline: 1s,') });
        const { changeId } = await world.review({ table: 'public.prices', stop: 'expired', revoked });
        const report = verify(await world.export(changeId), world);
        expect(report).toMatchObject({ verdict: 'verified', outcome: { reason: 'expired' } });
      });

      it('still open: people can read it, and are told that it cannot be committed', async () => {
        const { world, bundle } = await exported({ table: 'public.prices', open: true, revoked });
        const at = '2026-03-01T09:10:00.000Z';
        const verdict = verifiedReview(bundle, world.trust, at);
        expect(verdict).toMatchObject({ ok: true });
        expect(verdict.ok && verdict.review.status.warnings).toContainEqual(
          expect.stringMatching(/ was revoked at .*: this change cannot be committed; submit it again$/),
        );
      });
    },
  );

  it.each<[string, Partial<WorldChange>]>([
    ['', {}],
    [', after one of two people confirmed', { answers: [{ by: 'alice', decision: 'confirm' }] }],
    [', after the only person who could answer lost the key', { revoked: 'alice' }],
  ])('no_handler, because one person could answer and two must%s', async (_what, change) => {
    const world = evidenceWorld({ bundleText: WORLD_BUNDLE.replace('[alice, bob]', '[alice, erin]') });
    const { changeId } = await world.review({ table: 'public.prices', stop: 'no_handler', ...change });
    const report = verify(await world.export(changeId), world);
    expect(report.checks.filter((check) => !isMet(check))).toEqual([]);
    expect(report).toMatchObject({ verdict: 'verified', outcome: { reason: 'no_handler' } });
  });

  it('declined after the deadline of the violation', async () => {
    const world = evidenceWorld({ bundleText: WORLD_BUNDLE.replace('quorum: 2,', 'quorum: 2, deadline: 1s,') });
    const { changeId } = await world.review({ table: 'public.prices', answers: BOB_REJECTS });
    const report = verify(await world.export(changeId), world);
    expect(report).toMatchObject({ verdict: 'verified', outcome: { reason: 'declined' } });
  });

  describe('with a withdrawal whose key was revoked before its row', () => {
    const withdrawalIn = ({ checks }: Pick<EvidenceReport, 'checks'>) =>
      checks.find(({ name }) => name === 'withdrawal');

    it('that ended for another reason, and the report says that the withdrawal does not count', async () => {
      const { world, bundle } = await exported(WITH_REVOKED_WITHDRAWAL);
      const report = verify(bundle, world);
      expect(report).toMatchObject({ verdict: 'verified', outcome: { reason: 'declined' } });
      expect(withdrawalIn(report)).toMatchObject({
        result: 'ok',
        detail: expect.stringMatching(/^row \d+ forbids a commit, but does not count: revoked_key, /),
      });
    });

    it('that is still open, so that people can go on reading it', async () => {
      const { world, bundle } = await exported({ ...WITH_REVOKED_WITHDRAWAL, open: true });
      const at = bundle.rows.at(-1)?.row.at ?? '';
      expect(verifiedReview(bundle, world.trust, at)).toMatchObject({ ok: true });
    });
  });

  it('reports rows without a checkpoint as not witnessed', async () => {
    const { world, bundle } = await exported({ table: 'public.items' }, false);
    expect(verify(bundle, world)).toMatchObject({ verdict: 'verified', witnessed: false });
  });

  it('verifies without the bytes', async () => {
    const world = evidenceWorld();
    const { changeId } = await world.review({ table: 'public.prices', answers: YES });
    expect(verify(await world.export(changeId, { bytes: false }), world).verdict).toBe('verified');
  });

  it('reports an outcome without a receipt as unverified, even if everything else passes', async () => {
    const { world, bundle } = await exported({ table: 'public.prices', answers: YES, open: true });
    const report = verify(bundle, world);
    expect(report).toMatchObject({ verdict: 'unverified', outcome: null });
    expect(report.checks.filter(({ result }) => result === 'failed').map(({ name }) => name)).toEqual([
      'head',
      'receipt',
    ]);
    expect(report.checks.find(({ name }) => name === 'head')?.detail).toContain('the review had not ended, or rows');
  });
});

describe('trust only comes from the caller', () => {
  it('fails if the committer is not trusted', async () => {
    const { world, bundle } = await exported({ table: 'public.prices', answers: YES });
    const other = { ...world, trust: { ...world.trust, committers: [seededKey('mallory').publicKey] } };
    expect(unmet(verify(bundle, other))).toEqual(expect.arrayContaining(['receipt', 'checkpoint']));
    expect(verify(bundle, other)).toMatchObject({ verdict: 'failed', outcome: null });
  });

  it('fails if the operator is not trusted', async () => {
    const { world, bundle } = await exported({ table: 'public.prices', answers: YES });
    const other = { ...world, trust: { ...world.trust, operators: [seededKey('mallory').publicKey] } };
    expect(unmet(verify(bundle, other))).toEqual(expect.arrayContaining(['policy', 'keys']));
    expect(verify(bundle, other).verdict).toBe('failed');
  });

  describe('a revocation that was signed before the commit began, and was in the database after it', () => {
    const operator = seededKey('operator');
    /** With a revocation of this key or, for `policy`, of the revision, dated so many seconds before the settlement. */
    const revokedBefore = (bundle: EvidenceBundle, name: string, seconds: number): EvidenceBundle => {
      const settled = bundle.rows.find(({ row }) => row.kind === 'intent' || row.kind === 'decided')?.row.at ?? '';
      const revokedAt = new Date(Date.parse(settled) - seconds * 1000).toISOString();
      const { policy } = bundle;
      if (name === 'policy' && policy !== null) {
        const [revision, bundleSha] = [1, sha256HexOfText(policy.bundleText)];
        const said = { revision, bundleSha, reason: 'wrong', keyId: operator.keyId, revokedAt };
        return { ...bundle, policy: { ...policy, revocation: signPredicate('policy-revocation', said, operator) } };
      }
      const { keyId } = seededKey(name);
      const keys = bundle.keys.map((key) =>
        registeredKey(key, [operator.publicKey], null).keyId === keyId
          ? { ...key, revocation: signKeyRevocation({ keyId, reason: 'lost', revokedAt }, operator) }
          : key,
      );
      return { ...bundle, keys };
    };

    it.each(['alice', 'agent', 'judge', 'attestor', 'policy'])(
      'does not count against it within the tolerance for clocks, and does beyond it: %s',
      async (name) => {
        const { world, bundle } = await exported({ table: 'public.prices', answers: YES });
        for (const seconds of [1, 59])
          expect(verify(revokedBefore(bundle, name, seconds), world)).toMatchObject({ verdict: 'verified' });
        for (const seconds of [60, 3600])
          expect(verify(revokedBefore(bundle, name, seconds), world)).toMatchObject({ verdict: 'failed' });
      },
    );

    it('does not count against a rollback because the commit window had passed if the confirmation is older, with that tolerance', async () => {
      const bundleText = WORLD_BUNDLE.replace('defaultGroup: dba', 'defaultGroup: dba\ncommitWindow: 1s');
      const world = evidenceWorld({ bundleText });
      const { changeId } = await world.review({ table: 'public.prices', answers: YES, stop: 'commit_failed' });
      const bundle = await world.export(changeId);
      expect(verify(bundle, world)).toMatchObject({ verdict: 'verified', outcome: { reason: 'commit_failed' } });
      for (const [seconds, verdict] of [
        [1, 'verified'],
        [59, 'verified'],
        [60, 'verified'],
        [3600, 'failed'],
      ] as const)
        expect(verify(revokedBefore(bundle, 'alice', seconds), world)).toMatchObject({ verdict });
    });
  });

  describe('a revocation that no trusted operator signed', () => {
    const mallory = seededKey('mallory');
    /** With such a revocation of every key, as someone with the database role of the operator can write it. */
    const withForged = (bundle: EvidenceBundle, revokedAt: string): EvidenceBundle => {
      const keys = bundle.keys.map((key) => {
        const { keyId } = registeredKey(key, [seededKey('operator').publicKey], null);
        return { ...key, revocation: signKeyRevocation({ keyId, reason: 'forged', revokedAt }, mallory) };
      });
      return { ...bundle, keys };
    };

    it.each<[string, WorldChange]>([
      ['committed', { table: 'public.prices', answers: YES }],
      ['declined', { table: 'public.prices', answers: BOB_REJECTS }],
      ['forbidden', { table: 'public.vault' }],
    ])('changes nothing about a change that was %s, and is counted in the report', async (_name, change) => {
      const { world, bundle } = await exported(change);
      for (const revokedAt of ['2026-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z']) {
        const report = verify(withForged(bundle, revokedAt), world);
        expect(report).toMatchObject({ verdict: 'verified' });
        expect(report.checks.find(({ name }) => name === 'keys')?.detail).toContain(
          `${bundle.keys.length} revocations that no trusted operator signed do not count`,
        );
      }
    });

    it.each([4, 5, 6, 7])(
      'supports no receipt that the evidence contradicts: all have confirmed within a deadline of %s s, then it is to expire',
      async (seconds) => {
        const bundleText = WORLD_BUNDLE.replace('quorum: 2,', `quorum: 2, deadline: ${seconds}s,`).replace(
          '[alice, bob]',
          '[alice, bob, dana]',
        );
        const world = evidenceWorld({ bundleText });
        const change = { table: 'public.prices', answers: YES, revoked: 'alice', revokedBy: 'mallory' } as const;
        const ended = await world.review({ ...change, stop: 'expired' }).catch((error: unknown) => error);
        if (ended instanceof Error) expect(ended).toMatchObject({ type: 'VALIDATION_ERROR' });
        const [submitted] = world.ledger.all;
        const evidence = await world.export(submitted?.row.changeId ?? '');
        expect(verify(evidence, world).verdict).toBe(ended instanceof Error ? 'unverified' : 'verified');
      },
    );

    it('refuses the commit that rests on it, and the evidence of that verifies', async () => {
      const { world, bundle } = await exported({
        table: 'public.prices',
        answers: YES,
        revoked: 'alice',
        revokedBy: 'mallory',
      });
      expect(verify(bundle, world)).toMatchObject({ verdict: 'verified', outcome: { reason: 'commit_refused' } });
    });

    it('counts in an open review: people can read it, and the answers of the key do not count', async () => {
      const { world, bundle } = await exported({ table: 'public.prices', answers: YES, open: true });
      const forged = withForged(bundle, '2030-01-01T00:00:00.000Z');
      const evidence = { ...forged, sha256: evidenceChecksum(forged) };
      const verdict = verifiedReview(evidence, world.trust, '2026-03-01T09:10:00.000Z');
      expect(verdict).toMatchObject({ ok: true, review: { answers: [] } });
      expect(verdict.ok && verdict.review.status.warnings.join()).toMatch(
        /revoked_key.*this change cannot be committed/,
      );
    });
  });

  it('throws if a trusted key is malformed; never throws on file contents', () => {
    expect(() => verifyEvidence('', { operators: ['x'], committers: [] })).toThrow(TypeError);
    for (const file of ['', 'null', '[]', '{}', '{"format":"countersign-evidence/v1"}\n']) {
      expect(verifyEvidence(file, { operators: [], committers: [] })).toMatchObject({ verdict: 'failed' });
    }
  });
});

describe('evidence fails after a database owner rewrote the rows and recomputed the chain', () => {
  const body = (rows: readonly LedgerRow[], kind: LedgerRow['kind']): Record<string, unknown> =>
    rows.find((row) => row.kind === kind)!.body;
  const cases: readonly [string, string, (rows: LedgerRow[]) => readonly LedgerRow[]][] = [
    [
      'one person answers for two',
      'decision',
      (rows) =>
        rows.map((row) =>
          row.body['person'] === 'bob' ? { ...rows.find((r) => r.body['person'] === 'alice')! } : row,
        ),
    ],
    ['the record of the judge was removed', 'findings', (rows) => rows.filter((row) => !isJudgeRecord(row))],
    ['the disclosure was removed', 'settlement', (rows) => rows.filter((row) => row.kind !== 'disclosed')],
    [
      'a finding that was disclosed says ALLOW',
      'findings',
      (rows) => (((body(rows, 'disclosed')['findings'] as { status: string }[])[0]!.status = 'ALLOW'), rows),
    ],
    [
      'another quorum was disclosed',
      'disclosure',
      (rows) => (((body(rows, 'disclosed')['violations'] as { quorum: number }[])[0]!.quorum = 1), rows),
    ],
    [
      'another dry run was made',
      'staging',
      (rows) => (((body(rows, 'staged')['record'] as { serverVersion: string }).serverVersion = '17'), rows),
    ],
    ['another plan was pinned', 'policy', (rows) => ((body(rows, 'planned')['planHash'] = '0'.repeat(64)), rows)],
    ['another revision was pinned', 'policy', (rows) => ((body(rows, 'planned')['revision'] = 2), rows)],
    ['the requester was replaced', 'requester', (rows) => ((body(rows, 'submitted')['requester'] = 'rita'), rows)],
    [
      'the requester was removed',
      'submission',
      (rows) => (delete (body(rows, 'submitted')['submission'] as Record<string, unknown>)['envelope'], rows),
    ],
    ['the closing row was removed', 'settlement', (rows) => rows.filter((row) => row.kind !== 'closed')],
    [
      'the intent precedes the disclosure',
      'order',
      (rows) => [rows.find((row) => row.kind === 'intent')!, ...rows.filter((row) => row.kind !== 'intent')],
    ],
  ];

  it.each(cases)('when %s', async (_name, check, edit) => {
    const { world, bundle } = await exported({ table: 'public.prices', answers: YES });
    expect(verdictUnchanged(bundle, world, 'rewritten')).toBe('verified');
    const report = verify(rewritten(bundle, edit), world);
    expect(report.verdict).toBe('failed');
    expect(unmet(report)).toContain(check);
  });

  it.each<[string, (rows: LedgerRow[], row: LedgerRow) => readonly LedgerRow[]]>([
    [
      'the signed statement of a withdrawal was replaced by an unsigned one',
      (rows, row) => {
        const statement = row.body['statement'] as { signatures: { sig: string }[] };
        statement.signatures = statement.signatures.map((signature) => ({ ...signature, sig: 'AA==' }));
        return rows;
      },
    ],
    ['the words of a withdrawal were changed', (rows, row) => ((row.body['explanation'] = 'Withdrawn by alice'), rows)],
    [
      'the withdrawal came after the change was settled',
      (rows, row) => {
        const at = rows.findIndex(({ kind }) => kind === 'decided') + 1;
        return [...rows.slice(0, at).filter((other) => other !== row), row, ...rows.slice(at)];
      },
    ],
  ])('when %s', async (_name, edit) => {
    const { world, bundle } = await exported({ table: 'public.prices', stop: 'withdrawn' });
    const forged = rewritten(bundle, (rows) =>
      edit(
        rows,
        rows.find(({ kind }) => kind === 'withdrawn')!,
      ),
    );
    expect(unmet(verify(forged, world))).toContain('withdrawal');
  });

  it.each<[string, object]>([
    ['the row of a stale dry run says that it was rejected for another reason', { stale: false }],
    ['the row of a stale dry run says that it succeeded', { rejected: false }],
  ])('when %s', async (_name, change) => {
    const { world, bundle } = await exported(STALE);
    const forged = rewritten(bundle, (rows) => (Object.assign(body(rows, 'staged'), change), rows));
    expect(unmet(verify(forged, world))).toContain('decision');
  });

  it('when the statement of a withdrawal that does not count has no valid signature', async () => {
    const { world, bundle } = await exported(WITH_REVOKED_WITHDRAWAL);
    const forged = rewritten(bundle, (rows) => {
      const { statement } = body(rows, 'withdrawn') as { statement: { signatures: { sig: string }[] } };
      for (const signature of statement.signatures) signature.sig = 'AA==';
      return rows;
    });
    expect(verify(forged, world).checks).toContainEqual(
      expect.objectContaining({
        name: 'withdrawal',
        result: 'failed',
        detail: expect.stringContaining('bad_signature'),
      }),
    );
  });

  it('when a finding on the dry run was disclosed as waived, but no waiver of the plan covers it', async () => {
    const { world, bundle } = await exported({ table: 'public.items', rows: 5, claimedRows: 1, answers: YES });
    expect(verify(bundle, world).verdict).toBe('verified');
    const found = bundle.findings.findIndex(({ validator_id: id }) => id.endsWith('metadata_mismatch'));
    expect(bundle.findings[found]?.status).toBe('BLOCK');
    const lie = { ...bundle.findings[found]!, status: 'ALLOW' as const, reasonCode: 'waived' };
    const findings = bundle.findings.with(found, lie);
    const forged = rewritten(
      { ...bundle, findings },
      (rows) => ((body(rows, 'disclosed')['findings'] = findings), rows),
    );
    expect(verify(forged, world).checks.find(({ name }) => name === 'findings')).toMatchObject({
      result: 'failed',
      detail: expect.stringContaining('no waiver of the plan covers it'),
    });
  });
});

describe('evidence fails if the committer signed a receipt that the rows contradict', () => {
  const committed = { action: 'COMMIT', state: 'COMMITTED', reason: null, effect: { rows: {} } };

  it.each<[string, WorldChange, Record<string, unknown>, string]>([
    [
      'a commit of a declined change',
      { table: 'public.prices', answers: [{ by: 'bob', decision: 'reject' }] },
      committed,
      'decision',
    ],
    [
      'a commit with one confirmation of two',
      { table: 'public.prices', answers: [YES[0]], stop: 'withdrawn' },
      committed,
      'decision',
    ],
    ['a commit of a change without answers', { table: 'public.prices', stop: 'withdrawn' }, committed, 'decision'],
    ['a commit of a forbidden change', { table: 'public.vault' }, committed, 'decision'],
    ['a decline without a reject', { table: 'public.prices', stop: 'withdrawn' }, { reason: 'declined' }, 'decision'],
    ['an expiry before the deadline', { table: 'public.prices', stop: 'withdrawn' }, { reason: 'expired' }, 'decision'],
    [
      'no handler, although people could answer',
      { table: 'public.prices', stop: 'withdrawn' },
      { reason: 'no_handler' },
      'decision',
    ],
    [
      'a stale base without an intent',
      { table: 'public.prices', stop: 'withdrawn' },
      { reason: 'stale_base' },
      'decision',
    ],
    [
      'a stale base, although the dry run was rejected for another reason',
      REJECTED,
      { reason: 'stale_base' },
      'decision',
    ],
    ['another reason, although the base had moved before the dry run', STALE, { reason: 'commit_failed' }, 'decision'],
    [
      'a withdrawal without a row',
      { table: 'public.prices', answers: [{ by: 'bob', decision: 'reject' }] },
      { reason: 'withdrawn' },
      'withdrawal',
    ],
    ['another diff', { table: 'public.prices', answers: YES }, { diffSha: '0'.repeat(64) }, 'settlement'],
    ['another tenant', { table: 'public.prices', answers: YES }, { tenant: 'other' }, 'settlement'],
    ['another mode', { table: 'public.prices', answers: YES }, { mode: 'cooperative' }, 'settlement'],
    [
      'a withdrawal whose key was revoked before its row',
      WITH_REVOKED_WITHDRAWAL,
      { reason: 'withdrawn' },
      'withdrawal',
    ],
    ['a commit with a reason', { table: 'public.prices', answers: YES }, { reason: 'declined' }, 'receipt'],
  ])('%s', async (_name, change, lie, check) => {
    const { world, bundle } = await exported(change);
    expect(verdictUnchanged(bundle, world, 'resigned')).toBe('verified');
    const report = verify(resigned(bundle, world.keys.committer, lie), world);
    expect(unmet(report)).toContain(check);
    expect(report.verdict).toBe('failed');
  });
});

it('says who confirmed or rejected what, and when', async () => {
  const { world, bundle } = await exported({ table: 'public.prices', answers: YES });
  const detail = verify(bundle, world).checks.find(({ name }) => name === 'answers')?.detail;
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
  const [alice, bob] = ['alice', 'bob'].map((person) => `confirm by ${person} at ${time}: guardian[.][a-z_]+`);
  expect(detail).toMatch(new RegExp(`^${alice}; ${bob}$`));
});

describe('revocation', () => {
  it('of an approver before the commit voids the answer; after the commit the evidence still verifies', async () => {
    const world = evidenceWorld();
    const { changeId } = await world.review({ table: 'public.prices', answers: YES });
    world.keys.revoke('bob', '2027-01-01T00:00:00.000Z');
    expect(verify(await world.export(changeId), world)).toMatchObject({ verdict: 'verified' });
    world.keys.revoke('bob', '2026-03-01T08:00:00.000Z');
    const report = verify(await world.export(changeId), world);
    expect(unmet(report)).toEqual(['decision']);
    expect(report.checks.find(({ name }) => name === 'answers')?.detail).toContain('revoked_key');
  });
});

it('fails if a key entry is missing, or if there is one that signed nothing in the file', async () => {
  const { world, bundle } = await exported({ table: 'public.prices', answers: YES });
  const dana = signKeyEntry(
    {
      publicKey: seededKey('dana').publicKey,
      kind: 'approver',
      subject: { type: 'person', id: 'dana' },
      onBehalfOf: null,
      tenants: ['*'],
      rights: ['answer'],
      demo: false,
      addedAt: '2026-01-01T00:00:00.000Z',
    },
    seededKey('operator'),
  );
  expect(unmet(verify({ ...bundle, keys: [...bundle.keys, { entry: dana, revocation: null }] }, world))).toContain(
    'keys',
  );
  expect(unmet(verify({ ...bundle, keys: bundle.keys.slice(1) }, world))).toContain('keys');
  expect(unmet(verify({ ...bundle, keys: [...bundle.keys].reverse() }, world))).toContain('keys');
});

it('fails if the row of the opening was removed, since the receipt says that there was one', async () => {
  const { world, bundle } = await exported({ table: 'public.prices', answers: [{ by: 'bob', decision: 'reject' }] });
  const without = rewritten(bundle, (rows) => rows.filter(({ kind }) => kind !== 'submitted'));
  expect(verify(without, world).verdict).toBe('failed');
  expect(verify({ ...without, receipt: null }, world).verdict).not.toBe('verified');
});

it('accepts answers of passkeys with the trust file alone, and none if the link, its operator or its person is another', async () => {
  const answers = [
    { by: 'alice', decision: 'confirm', passkey: true },
    { by: 'bob', decision: 'confirm', passkey: true },
  ] as const;
  const { world, bundle } = await exported({ table: 'public.prices', answers });
  expect(verify(bundle, world).verdict).toBe('verified');
  const edit = (change: (key: EvidenceBundle['keys'][number]) => EvidenceBundle['keys'][number]) => ({
    ...bundle,
    keys: bundle.keys.map((key) => ('enrollment' in key ? change(key) : key)),
  });
  const [alices, bobs] = ['alice', 'bob'].map((person) => enrolledPasskey(person, world.keys.operator).statements);
  const isAlices = (key: object): boolean => 'passkey' in key && isDeepStrictEqual(key.passkey, alices?.passkey);
  const others: EvidenceBundle[] = [
    edit((key) => (isAlices(key) ? { ...key, ...enrolledPasskey('alice', seededKey('forger')).statements } : key)),
    edit((key) => (isAlices(key) ? { ...key, enrollment: bobs!.enrollment } : key)),
    edit((key) => (isAlices(key) ? { ...key, passkey: bobs!.passkey } : key)),
    edit((key) => (isAlices(key) ? { ...key, ...bobs! } : key)),
    { ...bundle, keys: bundle.keys.filter((key) => !isAlices(key)) },
  ];
  for (const other of others) {
    expect(other).not.toEqual(bundle);
    expect(verify(other, world)).toMatchObject({ verdict: 'failed' });
  }
});
