import { exitCodeForResult } from '../../cli/exit-code-for';
import { ExitCode } from '../../cli/exit-codes';
import { readResult } from '../../client/read-review';
import { evidenceText } from '../../policy/evidence/bundle';
import { verifyEvidence } from '../../signing/verify-evidence';
import { evidenceWorld } from '../support/review/evidence-world';

test('a rollback whose plan the committer could not compile is verified, as its evidence is, and has no findings', async () => {
  const world = evidenceWorld();
  const answers = [{ by: 'alice', decision: 'confirm' as const }];
  const { changeId } = await world.review({ table: 'public.prices', answers, stop: 'policy_moved' });
  const bundle = await world.export(changeId);
  const { sha256: _sha, ...rest } = bundle;
  expect(bundle.rows.map(({ row }) => row.kind)).toContain('disclosed');
  expect(bundle.rows.find(({ row }) => row.kind === 'receipt')?.row.body['predicate']).toMatchObject({
    reason: 'policy_moved',
    findingsSha: null,
  });
  expect(bundle.findings).not.toEqual([]);
  expect(verifyEvidence(evidenceText(rest), world.trust).verdict).toBe('verified');
  for (const trust of [world.trust, { committers: world.trust.committers }]) {
    const result = readResult(changeId, bundle, trust);
    expect(result).toMatchObject({ state: 'ROLLED_BACK', verified: true, why: null, outcome: { findings: [] } });
    expect(result === null ? null : exitCodeForResult(result)).toBe(ExitCode.Stale);
  }
});
