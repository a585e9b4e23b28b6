import { evaluateJudge, LabelledCase } from '../../../activities/judge/evaluate-judge';
import { noCache } from '../../../activities/judge/cache';
import { createJudgeTransport } from '../../../activities/judge/transport';
import { JudgeConfig } from '../../../policy/judge/config';
import { evaluationReport, evaluationText, share } from '../../../policy/judge/evaluation';
import { answerTo, completion, sendJson, startJudgeServer } from '../../support/judge-server';
import { ourTools } from '../../support/source-tools';

const one = (id: string, raw: string, label: 'ALLOW' | 'WARN' | 'BLOCK', sourceTool = 'SQLDryRun'): LabelledCase =>
  LabelledCase.parse({ id, raw, label, sourceTool });

describe('evaluateJudge', () => {
  it('asks once about each case and counts failures separately from verdicts', async () => {
    const server = await startJudgeServer((response, request) => {
      if (request.message.includes('crash')) return sendJson(response, 500, {});
      const verdict = request.message.includes('DELETE')
        ? 'BLOCK'
        : request.message.includes('maybe')
          ? 'ABSTAIN'
          : 'ALLOW';
      return sendJson(
        response,
        200,
        completion('m', answerTo(request, { verdict, confidence: verdict === 'ABSTAIN' ? 'low' : 'high' })),
      );
    });
    try {
      const { cases, report } = await evaluateJudge({
        transport: createJudgeTransport({ baseUrl: server.baseUrl, apiKey: 'k' }),
        cache: noCache,
        markingKey: new Uint8Array(32),
        prices: { m: { input: 1_000_000, output: 1_000_000 } },
        now: Date.now,
        configOf: () => JudgeConfig.parse({ model: 'm' }),
        tools: ourTools,
        atOnce: 3,
        signal: new AbortController().signal,
        cases: [
          one('a', 'SELECT 1', 'ALLOW'),
          one('b', 'DELETE FROM x', 'BLOCK'),
          one('c', 'DELETE FROM y WHERE id = 1', 'ALLOW'),
          one('d', 'maybe', 'WARN'),
          one('e', 'crash', 'BLOCK'),
          one('f', 'x', 'ALLOW', 'FaxMachine'),
        ],
      });
      expect(cases.map((c) => [c.id, c.status, c.reasonCode, c.failed])).toEqual([
        ['a', 'ALLOW', 'judge_allow', false],
        ['b', 'BLOCK', 'judge_block', false],
        ['c', 'BLOCK', 'judge_block', false],
        ['d', 'WARN', 'judge_abstain', false],
        ['e', 'BLOCK', 'judge_backend', true],
        ['f', 'BLOCK', 'judge_unknown_diff_type', true],
      ]);
      expect(server.requests).toHaveLength(5);
      expect(report).toMatchObject({
        cases: 6,
        blockPrecision: { hits: 1, of: 2, value: 0.5 },
        blockRecall: { hits: 1, of: 2 },
        raisedRecall: { hits: 3, of: 3 },
        falseAlarms: { hits: 2, of: 3 },
        abstained: { hits: 1, of: 6 },
        failed: { hits: 2, of: 6 },
        calibration: { high: { hits: 2, of: 3 }, low: { hits: 1, of: 1 }, medium: { of: 0, value: null } },
        failures: { server_error: 1, unknown_source_tool: 1 },
        // Four answers of 1,200 input and 90 output tokens; the cost of the two failures is unknown, not zero.
        costMicros: 4 * 1290,
        costKnown: 4,
      });
      expect(evaluationText(report)).toContain(
        'BLOCK precision                      50.0 %  (95 %: 9.5 % to 90.5 %; 1 of 2)',
      );
      expect(evaluationText(report)).toContain('0.005160 in the unit of the price table, for 4 of 6 cases');
      expect(evaluationText(report)).toMatch(
        /could not answer .* 2 of 6\)\n  server_error +1\n  unknown_source_tool +1\n/,
      );
    } finally {
      await server.stop();
    }
  });

  it('rejects a case without bytes and a case with both raw and rawBase64', () => {
    expect(LabelledCase.safeParse({ id: 'a', sourceTool: 'x', label: 'ALLOW' }).success).toBe(false);
    expect(LabelledCase.safeParse({ id: 'a', sourceTool: 'x', label: 'ALLOW', raw: '', rawBase64: '' }).success).toBe(
      false,
    );
  });
});

describe('share', () => {
  it.each([
    [0, 0, 0, 1],
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [50, 100, 0.4038, 0.5962],
  ])('of %i in %i is between %f and %f', (hits, of, low, high) => {
    const s = share(hits, of);
    expect(s.low).toBeCloseTo(low, 3);
    expect(s.high).toBeCloseTo(high, 3);
  });

  it('reports "no cases" for an empty set', () => {
    const report = evaluationReport([]);
    expect(report).toMatchObject({
      cases: 0,
      blockRecall: { value: null },
      calibrationError: null,
      latencyMs: { p50: null },
    });
    expect(evaluationText(report)).toContain('no cases');
  });
});
