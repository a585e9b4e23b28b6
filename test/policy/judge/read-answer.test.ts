import { parseJudgeLine, parseJudgeText } from '../../../policy/judge/parse-line';
import { readAnswer } from '../../../policy/judge/read-answer';
import { BENIGN, CANARY, HOSTILE, POLICY_IDS, row, wire } from './answer-corpus';

const read = (raw: string): ReturnType<typeof parseJudgeLine> =>
  parseJudgeLine({ id: 'x', raw, policyIds: [...POLICY_IDS], canary: CANARY });

describe('readAnswer', () => {
  it('has a corpus of at least 120 raw answers with unique ids', () => {
    const ids = [...BENIGN, ...HOSTILE].map((a) => a.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(120);
  });

  it.each(BENIGN.map((a) => [a.id, a] as const))('reads the benign answer %s as expected [T20]', (_, answer) => {
    expect(read(answer.raw).status).toBe(answer.read);
  });

  it.each(HOSTILE.map((a) => [a.id, a] as const))(
    'does not read ALLOW from the hostile answer %s [T21, T22]',
    (_, answer) => {
      const { status, cause } = read(answer.raw);
      expect(status).not.toBe('ALLOW');
      if (answer.read !== undefined) expect({ status, cause }).toMatchObject({ status: answer.read });
    },
  );

  it('rejects an answer with two verdict objects, even if they are identical [T22]', () => {
    const one = JSON.stringify(wire());
    expect(readAnswer(`${one}\n${one}`, { policyIds: POLICY_IDS, canary: CANARY })).toMatchObject({
      ok: false,
      code: 'several_objects',
    });
  });

  it('lists the checks that it skipped if policies or canary are absent', () => {
    const raw = JSON.stringify(wire({ canary: 'whatever' }));
    expect(parseJudgeLine({ id: 7, raw })).toEqual({
      id: 7,
      status: 'ALLOW',
      reasonCode: 'judge_allow',
      unchecked: ['policyIds', 'canary'],
    });
  });

  it('rejects a policy with two rows, even if the expected policies are unknown', () => {
    const rows = [row('a'), row('a', { result: 'violated', severity: 'WARN' })];
    expect(parseJudgeLine({ id: 1, raw: JSON.stringify(wire({ policyResults: rows })) })).toMatchObject({
      status: 'BLOCK',
      cause: 'policy_rows',
    });
  });

  it('reads an abstention as WARN with judge_abstain and an invalid answer as BLOCK with judge_verdict_parse', () => {
    expect(read(JSON.stringify(wire({ verdict: 'ABSTAIN' })))).toEqual({
      id: 'x',
      status: 'WARN',
      reasonCode: 'judge_abstain',
    });
    expect(read('fine!')).toEqual({
      id: 'x',
      status: 'BLOCK',
      reasonCode: 'judge_verdict_parse',
      cause: 'no_object',
      message: 'the answer contains no verdict object',
    });
  });

  it.each([
    [wire({ policyResults: [row('secret words'), row('b', { severity: null })] }), 'policyResults.1.severity'],
    [wire({ observations: [{ line: 'secret words', effect: '' }] }), 'observations.0.line'],
    [{ ...wire(), 'secret words': 1 }, 'answer'],
  ])('reports the path of an invalid member without quoting the answer', (answer, where) => {
    const { cause, message } = read(JSON.stringify(answer));
    expect(cause).toBe('schema');
    expect(message).toContain(where);
    expect(message).not.toContain('secret words');
  });

  it('marks an unreadable answer that contains BLOCK, so that it is not retried', () => {
    expect(readAnswer('{"verdict":"BLOCK"', { policyIds: null, canary: null })).toMatchObject({
      ok: false,
      saysBlock: true,
    });
    expect(readAnswer('{"verdict":"ALLOW"', { policyIds: null, canary: null })).toMatchObject({
      ok: false,
      saysBlock: false,
    });
  });

  it('reads each line separately, and continues after an invalid line', () => {
    expect(
      parseJudgeText(JSON.stringify({ id: 'a', raw: JSON.stringify(wire()), canary: CANARY, expected: 'ALLOW' }), 1),
    ).toEqual({ id: 'a', status: 'ALLOW', reasonCode: 'judge_allow', unchecked: ['policyIds'] });
    expect(parseJudgeText('{"id":"b","raw":7}', 2)).toMatchObject({
      id: 'b',
      line: 2,
      error: expect.stringContaining('raw'),
    });
    expect(parseJudgeText('{', 3)).toMatchObject({ id: null, line: 3, error: expect.stringContaining('not JSON') });
  });
});
