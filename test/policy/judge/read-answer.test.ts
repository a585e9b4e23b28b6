import { parseJudgeLine, parseJudgeText, type JudgeLineRead } from '../../../policy/judge/parse-line';
import { readAnswer, type AnswerRefusal } from '../../../policy/judge/read-answer';
import { STRICT_ANSWERS, STRICT_CANARY, STRICT_LINES, STRICT_POLICIES, type Reading } from './strict-answers';

const EXPECTED = {
  policyIds: STRICT_POLICIES,
  canary: STRICT_CANARY,
  piece: { first: 0, last: STRICT_LINES - 1, context: [] },
};
const line = (raw: string): JudgeLineRead =>
  parseJudgeLine({ id: 'x', raw, policyIds: [...STRICT_POLICIES], canary: STRICT_CANARY, lines: STRICT_LINES });
const readingOf = ({ status, reasonCode }: JudgeLineRead): Reading =>
  reasonCode === 'judge_verdict_parse' ? 'unreadable' : status;
const rawOf = (id: string): string => STRICT_ANSWERS.find((answer) => answer.id === id)?.raw ?? '';
const codeOf = (raw: string): AnswerRefusal | 'read' => {
  const read = readAnswer(raw, EXPECTED);
  return read.ok ? 'read' : read.code;
};
const ALLOW = rawOf('bare object');

describe('readAnswer', () => {
  it.each(STRICT_ANSWERS.filter(({ read }) => read !== 'unreadable').map((a) => [a.id, a] as const))(
    'reads %s as it says',
    (_, { raw, read }) => {
      expect(readingOf(line(raw))).toBe(read);
    },
  );

  it.each(STRICT_ANSWERS.filter(({ read }) => read === 'unreadable').map((a) => [a.id, a] as const))(
    'does not read an answer with %s [T21, T22]',
    (_, { raw }) => {
      expect(readingOf(line(raw))).toBe('unreadable');
    },
  );

  it('does not read an answer with any one character before or after the object that is not JSON white space', () => {
    const read: number[] = [];
    for (let code = 0; code <= 0xffff; code += code === 0x2fff ? 0xce01 : 1) {
      const letter = String.fromCharCode(code);
      if (codeOf(letter + ALLOW) === 'read' || codeOf(ALLOW + letter) === 'read') read.push(code);
    }
    expect(read).toEqual([0x09, 0x0a, 0x0d, 0x20]);
  });

  it.each<[AnswerRefusal, string]>([
    ['too_long', rawOf('more than 64 KiB of thought')],
    ['lone_surrogate', rawOf('lone high surrogate by an escape')],
    ['lone_surrogate', rawOf('lone surrogate as text')],
    ['lone_surrogate', rawOf('lone surrogate after')],
    ['unclosed_think', rawOf('think never closed')],
    ['unclosed_think', rawOf('think opened twice, closed once')],
    ['unclosed_fence', rawOf('fence never closed')],
    ['no_object', ''],
    ['no_object', `[${ALLOW}]`],
    ['invalid_json', rawOf('trailing comma')],
    ['truncated', ALLOW.slice(0, -1)],
    ['too_deep', rawOf('deep wrapper')],
    ['duplicate_key', rawOf('duplicate by an escape')],
    ['text_after', rawOf('two ALLOW objects')],
    ['text_after', rawOf('prose after the fence').slice('```json\n'.length)],
    ['schema', rawOf('unknown member')],
    ['canary', rawOf('another canary')],
    ['policy_rows', rawOf('no row of a policy')],
    ['lines', rawOf('observation after the last line')],
    ['lines', rawOf('row with line 0')],
  ])('names %s as the cause', (code, raw) => {
    expect(codeOf(raw)).toBe(code);
  });

  it('accepts the lines of a piece and of its context only', () => {
    const piece = { first: 6, last: 9, context: [0] };
    const reads = (n: number): boolean =>
      readAnswer(ALLOW.replace('"line":1', `"line":${n}`), { ...EXPECTED, piece }).ok;
    expect(Array.from({ length: 13 }, (_, n) => n).filter(reads)).toEqual([1, 7, 8, 9, 10]);
  });

  it.each([
    [ALLOW.replace('"lines":[]', '"lines":["secret words"]'), 'policyResults.0.lines.0'],
    [ALLOW.replace('"line":1', '"line":"secret words"'), 'observations.0.line'],
    [ALLOW.replace('{', '{"secret words":1,'), 'answer'],
  ])('reports the path of an invalid member without quoting the answer', (raw, where) => {
    const { cause, message } = line(raw);
    expect(cause).toBe('schema');
    expect(message).toContain(where);
    expect(message).not.toContain('secret words');
  });
});

describe('parseJudgeLine', () => {
  it('lists the checks that it skipped if policies, canary or lines are absent', () => {
    expect(parseJudgeLine({ id: 7, raw: ALLOW.replace('"line":1', '"line":99') })).toEqual({
      id: 7,
      status: 'ALLOW',
      reasonCode: 'judge_allow',
      unchecked: ['policyIds', 'canary', 'lines'],
    });
  });

  it('rejects a policy with two rows, even if the expected policies are unknown', () => {
    expect(parseJudgeLine({ id: 1, raw: rawOf('two rows of a policy') })).toMatchObject({
      status: 'BLOCK',
      cause: 'policy_rows',
    });
  });

  it('reads an abstention as WARN with judge_abstain and an invalid answer as BLOCK with judge_verdict_parse', () => {
    expect(line(rawOf('verdict ABSTAIN'))).toEqual({ id: 'x', status: 'WARN', reasonCode: 'judge_abstain' });
    expect(line('fine!')).toEqual({
      id: 'x',
      status: 'BLOCK',
      reasonCode: 'judge_verdict_parse',
      cause: 'no_object',
      message: 'expected a JSON object at character 0',
    });
  });

  it('reads each line separately, and continues after an invalid line', () => {
    expect(
      parseJudgeText(JSON.stringify({ id: 'a', raw: ALLOW, canary: STRICT_CANARY, lines: 1, expected: 'ALLOW' }), 1),
    ).toEqual({ id: 'a', status: 'ALLOW', reasonCode: 'judge_allow', unchecked: ['policyIds'] });
    expect(parseJudgeText('{"id":"b","raw":7}', 2)).toMatchObject({
      id: 'b',
      line: 2,
      error: expect.stringContaining('raw'),
    });
    expect(parseJudgeText('{', 3)).toMatchObject({ id: null, line: 3, error: expect.stringContaining('not JSON') });
  });
});
