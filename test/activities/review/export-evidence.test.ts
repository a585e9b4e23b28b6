import { exportEvidence } from '../../../activities/review/export-evidence';
import { FailureType } from '../../../policy/contracts/failure-type';
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import { evidenceText, parseEvidence } from '../../../policy/evidence/bundle';
import { verifyEvidence } from '../../../signing/verify-evidence';
import { evidenceWorld } from '../../support/review/evidence-world';

const CHANGE = { table: 'public.items' } as const;

it('fails for a change that is not in the ledger', async () => {
  const { sources } = evidenceWorld();
  await expect(exportEvidence(sources, '0'.repeat(64), { bytes: false })).rejects.toMatchObject({
    type: FailureType.Validation,
  });
});

it('fails if the pinned plan is not stored, or no trusted operator signed its revision', async () => {
  const world = evidenceWorld();
  const { changeId } = await world.review(CHANGE);
  const other = { ...world.sources.policy, plan: async () => null };
  await expect(exportEvidence({ ...world.sources, policy: other }, changeId, { bytes: false })).rejects.toMatchObject({
    type: FailureType.PolicyMoved,
  });
  const unsigned = { ...world.sources.policy, verifyRevision: () => null };
  await expect(
    exportEvidence({ ...world.sources, policy: unsigned }, changeId, { bytes: false }),
  ).rejects.toMatchObject({ type: FailureType.PolicyMoved });
});

it('contains the digest of the history, which no check of verify rests on', async () => {
  const world = evidenceWorld();
  const { changeId } = await world.review(CHANGE);
  const history = { runId: 'run-1', events: 42, sha256: '1'.repeat(64) };
  const bundle = await exportEvidence({ ...world.sources, history: async () => history }, changeId, { bytes: false });
  expect(bundle.history).toEqual(history);
  const report = verifyEvidence(evidenceText(bundle), world.trust);
  expect(report.verdict).toBe('verified');
});

it('contains the rows of the dry run only together with the bytes', async () => {
  const world = evidenceWorld();
  const { changeId } = await world.review(CHANGE);
  const [whole, digests] = [await world.export(changeId), await world.export(changeId, { bytes: false })];
  expect([whole.preview === null, digests.preview]).toEqual([false, null]);
  const previews = [whole, digests].map((bundle) =>
    verifyEvidence(evidenceText(bundle), world.trust).checks.find(({ name }) => name === 'preview'),
  );
  expect(previews.map((check) => check?.result)).toEqual(['ok', 'not_checked']);
});

it('keeps a column named __proto__ in the preview', async () => {
  const world = evidenceWorld();
  const { changeId } = await world.review(CHANGE);
  const preview = JSON.parse('{"tables":[{"__proto__":"x"}]}') as JsonObject;
  const bundle = { ...(await world.export(changeId)), preview };
  const parsed = parseEvidence(evidenceText(bundle));
  expect(parsed.ok && canonicalJson(parsed.bundle.preview)).toBe(canonicalJson(preview));
});
