import { replayFindings } from '../../../activities/review/replay-evidence';
import { FailureType } from '../../../policy/contracts/failure-type';
import { fromBase64 } from '../../../policy/evidence/base64';
import { parseEvidence, type EvidenceBundle } from '../../../policy/evidence/bundle';
import { frozenRegistry } from '../../../policy/contracts/registry';
import { extensionsOf } from '../../../workers/extensions';
import { makeVectors, VECTOR_NAMES, type VectorName } from '../../support/vectors';

const { sourceTools: tools, validators } = extensionsOf();
let bundles: Record<VectorName, EvidenceBundle>;
beforeAll(async () => {
  const { texts } = await makeVectors();
  const read = (name: VectorName): EvidenceBundle => {
    const parsed = parseEvidence(texts[name]);
    if (!parsed.ok) throw new Error(parsed.problem);
    return parsed.bundle;
  };
  bundles = Object.fromEntries(VECTOR_NAMES.map((name) => [name, read(name)])) as Record<VectorName, EvidenceBundle>;
}, 60_000);

const raw = (bundle: EvidenceBundle): Uint8Array => fromBase64(bundle.bytes ?? '') ?? new Uint8Array();
const replay = (bundle: EvidenceBundle, bytes = raw(bundle)) => replayFindings({ tools, validators }, bundle, bytes);

it.each([
  ['committed', 4],
  ['declined', 4],
  ['forbidden', 2],
] as const)('computes the derived findings of %s again, byte for byte [P6]', async (name, recomputed) => {
  expect(await replay(bundles[name])).toMatchObject({
    equal: true,
    recomputed,
    findings: 9,
    differences: [],
    notReproducible: [],
  });
});

it.each([
  ['another reason', (f: EvidenceBundle['findings'][number]) => ({ ...f, reason: `${f.reason}.` })],
  ['another status', (f: EvidenceBundle['findings'][number]) => ({ ...f, status: 'ALLOW' as const })],
  [
    'other evidence',
    (f: EvidenceBundle['findings'][number]) => ({ ...f, evidenceRefs: [...f.evidenceRefs, 'diff:x'] }),
  ],
])('detects %s in one finding, and reports both versions', async (_name, edit) => {
  const bundle = bundles.committed;
  const findings = bundle.findings.map((f, i) => (i === 0 ? edit(f) : f));
  const report = await replay({ ...bundle, findings });
  expect(report).toMatchObject({ equal: false, differences: [{ validatorId: 'guardian.usual_tables' }] });
  expect(report.differences[0]?.recorded).not.toBe(report.differences[0]?.recomputed);
});

it('detects a different order and a missing finding', async () => {
  const bundle = bundles.committed;
  const [a, b, ...rest] = bundle.findings;
  expect((await replay({ ...bundle, findings: [b!, a!, ...rest] })).equal).toBe(false);
  expect((await replay({ ...bundle, findings: [b!, ...rest] })).equal).toBe(false);
});

it('detects a BLOCK that was replaced by ALLOW', async () => {
  const bundle = bundles.forbidden;
  const findings = bundle.findings.map((f) =>
    f.status === 'BLOCK' ? { ...f, status: 'ALLOW' as const, reason: '', evidenceRefs: [] } : f,
  );
  expect((await replay({ ...bundle, findings })).equal).toBe(false);
});

const SLOW = { errorClass: 'ErrTimeout' as const, reproducible: false, status: 'BLOCK' as const, reason: 'slow' };
const withError = (bundle: EvidenceBundle, id: string): EvidenceBundle => ({
  ...bundle,
  findings: bundle.findings.map((f) => (f.validator_id === id ? { ...f, ...SLOW } : f)),
});

it('accepts an ERROR that is not reproducible, but in a committed change only if the result is now ALLOW', async () => {
  const allowed = await replay(withError(bundles.committed, 'guardian.metadata_mismatch'));
  expect(allowed).toMatchObject({ equal: true, notReproducible: ['guardian.metadata_mismatch'] });
  const blocked = await replay(withError(bundles.committed, 'guardian.usual_tables'));
  expect(blocked).toMatchObject({ equal: false, differences: [{ validatorId: 'guardian.usual_tables' }] });
  const declined = await replay(withError(bundles.declined, 'guardian.usual_tables'));
  expect(declined).toMatchObject({ equal: true, notReproducible: ['guardian.usual_tables'] });
});

it('refuses other bytes and another plan than those of the change', async () => {
  const bundle = bundles.committed;
  await expect(replay(bundle, Uint8Array.of(1))).rejects.toMatchObject({ type: FailureType.DigestMismatch });
  const policy = { ...bundle.policy!, plan: { ...bundle.policy!.plan, domain: 'other' } };
  await expect(replay({ ...bundle, policy })).rejects.toMatchObject({ type: FailureType.DigestMismatch });
});

it('fails with policy_moved if this process has other validators', async () => {
  const none = frozenRegistry('Validator', []);
  await expect(
    replayFindings({ tools, validators: none as never }, bundles.committed, raw(bundles.committed)),
  ).rejects.toMatchObject({ type: FailureType.PolicyMoved });
});
