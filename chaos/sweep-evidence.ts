import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions, runProgram, wholeNumber } from '../dev/run-program';
import { verifyEvidence, type EvidenceTrust } from '../signing/verify-evidence';
import { seededRandom } from './seeded-random';
import { mutate, type Mutation } from './evidence-mutations';

const VECTORS = ['committed', 'declined', 'forbidden'] as const;

// npm run sweep:evidence -- [--runs N] [--seed S] [--json]: mutates the published test vectors. No mutation may verify; exits 1 if one does.
async function main(): Promise<number> {
  const values = readOptions({ runs: '6000', seed: '1' });
  const [runs, seed] = [wholeNumber('--runs', values.runs), wholeNumber('--seed', values.seed, 0)];
  const folder = join(__dirname, '..', '..', 'docs', 'vectors');
  const trust = JSON.parse(readFileSync(join(folder, 'trust.json'), 'utf8')) as EvidenceTrust;
  const texts = VECTORS.map((name) => readFileSync(join(folder, `${name}.json`), 'utf8'));
  const roll = seededRandom(seed);
  const undetected: Pick<Mutation, 'attacker' | 'kind' | 'place'>[] = [];
  const caught: Record<string, number> = {};
  let last = Date.now();
  for (let run = 0; run < runs; run++) {
    const mutation = mutate(texts[run % texts.length] ?? '', roll);
    const report = verifyEvidence(mutation.text, trust);
    const by = report.checks.find(({ result }) => result === 'failed')?.name ?? 'nothing';
    caught[by] = (caught[by] ?? 0) + 1;
    if (report.verdict !== 'failed') {
      const { attacker, kind, place } = mutation;
      undetected.push({ attacker, kind, place });
    }
    if (Date.now() - last > 5_000) {
      last = Date.now();
      process.stderr.write(`${run + 1} of ${runs} mutations, ${undetected.length} undetected\n`);
    }
  }
  if (!values.json)
    for (const [check, count] of Object.entries(caught).sort((a, b) => b[1] - a[1]))
      process.stdout.write(`${String(count).padStart(7)}  first caught by ${check}\n`);
  process.stdout.write(
    `${JSON.stringify({ runs, seed, undetected: undetected.length, caught, examples: undetected.slice(0, 10) })}\n`,
  );
  return undetected.length === 0 ? 0 : 1;
}

runProgram(main);
