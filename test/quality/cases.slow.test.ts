import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { prepareSubmission } from '../../client/submission';
import { Metadata, Submission } from '../../policy/contracts/diff';
import { effectMetadataProblem } from '../../policy/contracts/effect-metadata';
import { SOURCE_TOOLS } from '../../source-tools';

const FOLDER = join(__dirname, 'cases');
const PACKS = ['git', 'http', 'secrets', 'sql', 'terraform', 'text'];

/**
 * One change with the label that a careful person gives it. The cases were written without knowledge of the rules. A case is not
 * edited to match a rule.
 */
const LabelledChange = z.strictObject({
  id: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  label: z.enum(['risky', 'ordinary']),
  why: z.string().regex(/^[A-Z0-9].*\.$/),
  diff: z.strictObject({ sourceTool: z.string(), raw: z.string().min(1), metadata: Metadata }),
});

function casesOf(pack: string): z.infer<typeof LabelledChange>[] {
  return z.array(LabelledChange).parse(JSON.parse(readFileSync(join(FOLDER, `${pack}.json`), 'utf8')));
}

test('there is one file of labelled cases for each pack', () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual(PACKS.map((pack) => `${pack}.json`));
});

/** Hosting services refuse to store such text, so JSON escapes one character of each prefix: `sk\u005flive`. */
test('no file contains the prefix of a secret unescaped', () => {
  const prefixes =
    /AKIA|ASIA|gh[ps]_|github_pat_|glpat-|xoxb-|hooks\.slack\.com|[rs]k_live_|SG\.|AIza|npm_[A-Za-z0-9]{36}|-----BEGIN/;
  for (const pack of PACKS)
    expect(prefixes.exec(readFileSync(join(FOLDER, `${pack}.json`), 'utf8'))?.[0] ?? null).toBeNull();
});

describe.each(PACKS)('%s', (pack) => {
  const cases = casesOf(pack);

  it('has at least 40 risky and 20 ordinary cases with different ids and texts', () => {
    expect(cases.filter(({ label }) => label === 'risky').length).toBeGreaterThanOrEqual(40);
    expect(cases.filter(({ label }) => label === 'ordinary').length).toBeGreaterThanOrEqual(20);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
    expect(new Set(cases.map(({ diff }) => diff.raw)).size).toBe(cases.length);
  });

  it.each(cases.map(({ id, diff }) => [id, diff] as const))('%s is a valid submission', (_id, diff) => {
    const { submission, bytes } = prepareSubmission({ ...diff, target: 'target' }, 'default');
    expect(Submission.parse(submission)).toEqual(submission);
    expect(Buffer.from(bytes).toString('utf8')).toBe(diff.raw);
    const tool = SOURCE_TOOLS.find(({ sourceTool }) => sourceTool === diff.sourceTool);
    expect(tool && effectMetadataProblem(tool.effectMetadata, diff.metadata)).toBeNull();
    expectReadable(diff.sourceTool, diff.raw);
  });
});

/** Git checks the line counts of each hunk when it reads a patch. */
function expectReadable(sourceTool: string, raw: string): void {
  switch (sourceTool) {
    case 'GitPatch':
      execFileSync('git', ['apply', '--numstat', '-'], { input: raw, stdio: ['pipe', 'ignore', 'pipe'] });
      return;
    case 'HTTPPatch':
    case 'SQLCAS':
    case 'TerraformPlan':
      expect(JSON.parse(raw)).toEqual(expect.any(Object));
      return;
    default:
      expect(sourceTool).toBe('SQLDryRun');
  }
}
