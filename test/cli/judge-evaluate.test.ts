import { evaluateModelOn } from '../../cli/judge/evaluate';
import { ConfigError } from '../../workers/config-error';
import { answering, startJudgeServer, type JudgeServer } from '../support/judge-server';

const bundle = (validators: string): string => `version: 1
name: shop
domain: global
provider: test
model: none
targets:
  shop: { development: true, sourceTools: [SQLDryRun, GitPatch] }
  other: { development: true, sourceTools: [SQLDryRun] }
groups:
  owners: { members: [ada] }
defaultGroup: owners
validators:
  - pack: secrets
${validators}
`;
const JUDGE = `  - judge: { model: of-the-bundle, policies: [{ id: no_truncate, text: Nothing may be truncated. }] }`;
const row = (over: object): { text: string; number: number } => ({
  text: JSON.stringify({ id: 'a', sourceTool: 'SQLDryRun', raw: 'SELECT 1', label: 'ALLOW', ...over }),
  number: 3,
});

describe('judge eval', () => {
  let server: JudgeServer;
  beforeAll(async () => {
    server = await startJudgeServer(answering());
  });
  afterAll(() => server.stop());
  beforeEach(() => server.clear());

  const evaluate = (text: string | null, model: string | null, target: string | null = 'shop', over: object = {}) =>
    evaluateModelOn(
      { OPENAI_API_KEY: 'k' },
      [row(over)],
      { model, baseUrl: server.baseUrl, concurrency: 1, bundle: text, target },
      () => undefined,
    );
  const asked = (): unknown[] =>
    server.requests.map(({ body }) => {
      const { model, messages } = JSON.parse(body) as { model: string; messages: { content: string }[] };
      return [model, messages[0]?.content.includes('no_truncate')];
    });

  it('uses rubric and model of the bundle, a given model instead, and the default rubric without a bundle', async () => {
    await evaluate(bundle(JUDGE), null);
    await evaluate(bundle(JUDGE), 'another');
    await evaluate(null, 'plain');
    expect(asked()).toEqual([
      ['of-the-bundle', true],
      ['another', true],
      ['plain', false],
    ]);
  });

  it.each<[string, string | null, string | null, string | null, object, RegExp]>([
    ['a bundle without a judge', bundle(''), null, 'shop', {}, /no judge for shop\/SQLDryRun; it has none/],
    [
      'a source tool that the target does not have',
      bundle(JUDGE),
      null,
      'other',
      { sourceTool: 'GitPatch' },
      /no judge for other\/GitPatch/,
    ],
    [
      'a bundle of several targets without --target',
      bundle(JUDGE),
      null,
      null,
      {},
      /--target: expected one of shop, other, got none/,
    ],
    ['neither model nor bundle', null, null, null, {}, /--model/],
    ['a line that is not a case', null, 'm', null, { label: 'BAD' }, /Line 3: expected .* got label: /],
  ])('refuses %s before any request', async (_, text, model, target, over, words) => {
    await expect(evaluate(text, model, target, over)).rejects.toThrow(words);
    expect(server.requests).toHaveLength(0);
  });

  it('reports an invalid base URL as a configuration error', async () => {
    const settings = { model: 'm', baseUrl: 'nonsense', concurrency: 1, bundle: null, target: null };
    await expect(evaluateModelOn({}, [row({})], settings, () => undefined)).rejects.toBeInstanceOf(ConfigError);
  });
});
