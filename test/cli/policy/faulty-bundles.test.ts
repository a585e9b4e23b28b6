import { runCommand, temporaryFolder } from '../run-command';
import { bundleOf, CHECKED_AT, FAULTY_BUNDLES } from './faulty-bundles';

const { write } = temporaryFolder();
const check = async (text: string) =>
  await runCommand(['policy', 'check', write('bundle.yaml', text)], { host: { now: () => new Date(CHECKED_AT) } });

it('accepts the bundle that the faulty ones are made from', async () => {
  expect(await check(bundleOf({}))).toMatchObject({ code: 0, err: '' });
});

it.each(FAULTY_BUNDLES.map((each) => [each.fault, each] as const))(
  'refuses %s: at its line and path, with what was expected and what to do',
  async (_fault, { text, at, says }) => {
    const { code, out } = await check(text);
    expect(code).toBe(1);
    const here = text.split('\n').findIndex((line) => line.endsWith('# here')) + 1;
    const issues = out.split(/^(?=\S)/m).map((issue) => issue.replaceAll(/\s+/g, ' '));
    const issue = issues.find(
      (each) => each.includes(`bundle.yaml:${here}:`) && each.includes(at === '' ? `:${here}:` : ` ${at}: `),
    );
    if (issue === undefined) throw new Error(`expected an issue of ${at} at line ${here}, got ${out}`);
    let from = 0;
    for (const words of says) {
      expect(issue.slice(from)).toContain(words);
      from = issue.indexOf(words, from) + words.length;
    }
    expect(out).not.toMatch(/ {2}plan [0-9a-f]{64}/);
  },
);
