import { BUILT_IN_CASES } from '../../cli/judge/cases/built-in-cases';
import { evaluateModelOn } from '../../cli/judge/evaluate';
import { LabelledCase } from '../../activities/judge/evaluate-judge';
import { sha256Hex } from '../../policy/contracts/hash';
import { answerTo, completion, sendJson, startJudgeServer, type JudgeServer } from '../support/judge-server';
import { ourTools } from '../support/source-tools';

const TOOLS = ['SQLDryRun', 'GitPatch', 'HTTPPatch', 'TerraformPlan'];

describe('the built-in cases of judge eval', () => {
  it('are 25 risky and 25 ordinary changes for each of four source tools, all different', () => {
    const counts = TOOLS.map((name) =>
      ['BLOCK', 'ALLOW'].map(
        (label) => BUILT_IN_CASES.filter((c) => c.sourceTool === name && c.label === label).length,
      ),
    );
    expect(counts).toEqual(TOOLS.map(() => [25, 25]));
    expect(BUILT_IN_CASES).toHaveLength(200);
    expect(new Set(BUILT_IN_CASES.map((c) => c.id)).size).toBe(200);
    expect(new Set(BUILT_IN_CASES.map((c) => c.raw)).size).toBe(200);
    for (const one of BUILT_IN_CASES) expect(LabelledCase.parse(one)).toEqual(one);
  });

  it.each(BUILT_IN_CASES.map((one) => [one.id, one] as const))('%s is a valid diff of its tool', async (_, one) => {
    const raw = new TextEncoder().encode(one.raw);
    const facts = await ourTools
      .get(one.sourceTool)
      ?.facts({ sourceTool: one.sourceTool, raw, diffSha: sha256Hex(raw), metadata: one.metadata });
    expect(facts).toMatchObject({ ok: true });
  });
});

describe('judge eval without a file', () => {
  let server: JudgeServer;
  afterEach(() => server.stop());

  const SCRIPT: Readonly<Record<string, string>> = {
    'SQLDryRun: the audit log emptied': 'ALLOW',
    'GitPatch: a package with a name close to another': 'ALLOW',
    'SQLDryRun: a new empty table': 'BLOCK',
    'TerraformPlan: an alarm': 'ABSTAIN',
  };
  /** Answers as labelled, except for SCRIPT and for one answer with prose beside it. The changes come in their order. */
  const scripted = (): Promise<JudgeServer> => {
    const cases = BUILT_IN_CASES.values();
    return startJudgeServer((response, request) => {
      const one = cases.next().value;
      const answer = answerTo(request, { verdict: SCRIPT[one?.id ?? ''] ?? one?.label });
      const prose = one?.id === 'HTTPPatch: a draft invoice line corrected' ? 'No objections: ' : '';
      sendJson(response, 200, completion('m', prose + JSON.stringify(answer)));
    });
  };
  const evaluate = (bundle: string | null = null) =>
    evaluateModelOn(
      { OPENAI_API_KEY: 'k' },
      null,
      { model: 'm', baseUrl: server.baseUrl, concurrency: 1, bundle, target: null },
      () => undefined,
    );

  it('asks about all 200 changes and prints recall, false alarms, cost and latency', async () => {
    server = await scripted();
    const { report, text, answered } = await evaluate();
    expect(answered).toBe(199);
    expect(server.requests).toHaveLength(200);
    expect(report).toMatchObject({
      cases: 200,
      raisedRecall: { hits: 98, of: 100 },
      falseAlarms: { hits: 3, of: 100 },
      alarms: ['SQLDryRun: a new empty table', 'HTTPPatch: a draft invoice line corrected', 'TerraformPlan: an alarm'],
      missed: ['SQLDryRun: the audit log emptied', 'GitPatch: a package with a name close to another'],
      failed: { hits: 1, of: 200 },
      failures: { answer: 1 },
      structuredOutput: { hits: 199, of: 199 },
    });
    for (const words of [
      /^recall: risky, not allowed +98\.0 %/m,
      /^ {2}SQLDryRun +96\.0 %/m,
      /^ {2}HTTPPatch +100\.0 %/m,
      /^false alarms: ordinary, not allowed +3\.0 %/m,
      /^answered with structured output +100\.0 %/m,
      /^latency +p50 \d+ ms, p95 \d+ ms$/m,
      /^cost +unknown: set COUNTERSIGN_JUDGE_PRICES_FILE/m,
    ])
      expect(text).toMatch(words);
  });

  it('asks only about changes of source tools for which the bundle has a judge', async () => {
    server = await scripted();
    const { report } = await evaluate(`version: 1
name: shop
domain: global
provider: test
model: none
targets:
  shop: { development: true, sourceTools: [HTTPPatch] }
groups:
  owners: { members: [ada] }
defaultGroup: owners
validators:
  - pack: secrets
  - judge: { model: m }
`);
    expect(report).toMatchObject({ cases: 50, raisedRecall: { of: 25 } });
  });
});
