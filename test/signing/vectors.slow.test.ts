import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../chaos/seeded-random';
import { mutate } from '../../chaos/evidence-mutations';
import { verifyEvidence } from '../../signing/verify-evidence';
import { isMet } from '../../signing/verify-review';
import { RUN_ALL } from '../support/extent';
import { makeVectors, publishedVectors, VECTOR_FOLDER, VECTOR_NAMES } from '../support/vectors';

const ENDS = {
  committed: { action: 'COMMIT', state: 'COMMITTED', reason: null },
  declined: { action: 'ROLLBACK', state: 'ROLLED_BACK', reason: 'declined' },
  passkey: { action: 'COMMIT', state: 'COMMITTED', reason: null },
  forbidden: { action: 'ROLLBACK', state: 'ROLLED_BACK', reason: 'forbidden' },
} as const;

// COUNTERSIGN_WRITE_VECTORS=1 writes them again: only after an intended change of a format or a pinned revision.
it('vectors of this version verify and are reproducible', async () => {
  const [made, again] = [await makeVectors(), await makeVectors()];
  expect(made).toEqual(again);
  if (process.env['COUNTERSIGN_WRITE_VECTORS'] === '1') {
    mkdirSync(VECTOR_FOLDER, { recursive: true });
    for (const name of VECTOR_NAMES) writeFileSync(join(VECTOR_FOLDER, `${name}.json`), made.texts[name]);
    writeFileSync(join(VECTOR_FOLDER, 'trust.json'), `${JSON.stringify(made.trust, null, 2)}\n`);
  }
  for (const name of VECTOR_NAMES) {
    const report = verifyEvidence(made.texts[name], made.trust);
    expect(report.checks.filter((check) => !isMet(check))).toEqual([]);
    expect(report).toMatchObject({ verdict: 'verified', witnessed: true, outcome: ENDS[name] });
  }
});

it.each(VECTOR_NAMES)('the published vector %s verifies with this version', (name) => {
  const { texts, trust } = publishedVectors();
  expect(verifyEvidence(Buffer.from(texts[name]), trust)).toMatchObject({ verdict: 'verified', outcome: ENDS[name] });
});

it('no mutation of a published vector verifies, whether the file is damaged or its checksums are recomputed', () => {
  const { texts, trust } = publishedVectors();
  const roll = seededRandom(20260301);
  const passed: string[] = [];
  for (let run = 0; run < (RUN_ALL ? 300 : 100); run++) {
    const name = VECTOR_NAMES[run % VECTOR_NAMES.length] ?? 'committed';
    const { attacker, kind, place, text } = mutate(texts[name], roll);
    if (verifyEvidence(text, trust).verdict !== 'failed') passed.push(`${name}: ${attacker} ${kind} at ${place}`);
  }
  expect(passed).toEqual([]);
});
