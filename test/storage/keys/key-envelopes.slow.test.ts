import { exportEvidence } from '../../../activities/review/export-evidence';
import { evidenceText } from '../../../policy/evidence/bundle';
import { verifiedReview } from '../../../signing/verified-review';
import { verifyEvidence } from '../../../signing/verify-evidence';
import { keyEnvelopes } from '../../../storage/keys/key-envelopes';
import { createKeyRegistry } from '../../../storage/keys/key-registry';
import { useFreshDatabase } from '../../support/postgres';
import type { WorldChange } from '../../support/review/evidence-review';
import { evidenceWorld } from '../../support/review/evidence-world';
import { seededKey } from '../../support/seeded-key';

const database = useFreshDatabase();

const insert = (table: 'keys' | 'key_revocations', keyId: string, envelope: unknown) =>
  database
    .open('cs_operator')
    .query(`insert into ${table} (key_id, envelope) values ($1, $2)`, [keyId, JSON.stringify(envelope)]);
const envelopeOf = (keyid: string) => ({ payloadType: 'any', payload: '', signatures: [{ keyid, sig: 'AAAA' }] });

it('reads the envelopes of keys unchanged, and omits unknown ids and rows that contain no envelope', async () => {
  const [entry, revocation] = [envelopeOf('entry'), envelopeOf('revocation')];
  for (const keyId of ['a', 'b']) await insert('keys', keyId, entry);
  for (const [keyId, garbage] of Object.entries({ d: null, e: { e: 1 }, f: envelopeOf('\ud800') }))
    await insert('keys', keyId, garbage);
  await insert('key_revocations', 'b', revocation);
  const read = await keyEnvelopes(database.open('cs_gateway'), []).envelopesOf(['b', 'a', 'c', 'd', 'e', 'f']);
  expect([...read].sort((x, y) => (x.keyId < y.keyId ? -1 : 1))).toEqual([
    { keyId: 'a', registration: { entry, revocation: null } },
    { keyId: 'b', registration: { entry, revocation } },
  ]);
});

describe.each([
  ['null', null],
  ['an object', { r: 1 }],
  ['a text', 'revoked'],
  ['an envelope that has no canonical JSON', envelopeOf('\ud800')],
])('a revocation that is not an envelope but %s', (_what, garbage) => {
  const confirmed: WorldChange = {
    table: 'public.prices',
    answers: ['alice', 'bob'].map((by) => ({ by, decision: 'confirm' as const })),
  };
  /** The evidence of this change, with keys from the database, where alice's has this revocation. */
  async function exported(change: WorldChange) {
    const world = evidenceWorld();
    const { changeId } = await world.review(change);
    const names = ['attestor', 'judge', 'agent', 'alice', 'bob'];
    for (const { keyId, registration } of await world.keys.envelopesOf(names.map((name) => seededKey(name).keyId)))
      await insert('keys', keyId, 'entry' in registration && registration.entry);
    await insert('key_revocations', seededKey('alice').keyId, garbage);
    const keys = keyEnvelopes(database.open('cs_gateway'), world.trust.operators);
    return { world, evidence: await exportEvidence({ ...world.sources, keys }, changeId, { bytes: true }) };
  }

  it('leaves evidence of the past as it was, and the report counts it', async () => {
    const { world, evidence } = await exported(confirmed);
    const report = verifyEvidence(evidenceText(evidence), world.trust);
    expect(report).toMatchObject({ verdict: 'verified' });
    expect(report.checks.find(({ name }) => name === 'keys')?.detail).toContain('1 revocations that no trusted');
  });

  it('revokes the key in an open review, for the processes and for those who read it', async () => {
    const { world, evidence } = await exported({ ...confirmed, open: true });
    const { operators: trustedOperators } = world.trust;
    const registry = createKeyRegistry({ db: database.open('cs_gateway'), trustedOperators, now: Date.now });
    expect((await registry.find(seededKey('alice').keyId))?.revokedAt).toEqual(expect.any(String));
    const read = verifiedReview(JSON.parse(evidenceText(evidence)), world.trust, '2026-03-01T09:10:00.000Z');
    expect(read).toMatchObject({ ok: true });
    expect(read.ok && read.review.answers.map(({ person }) => person)).toEqual(['bob']);
    expect(read.ok && read.review.status.warnings.join()).toContain('revoked_key');
  });
});
