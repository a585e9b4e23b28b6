import { readVerdict } from '../../../compat/flyto/flyto-verdict';
import { leastCpuMs } from '../../support/least-cpu';

const said = (over: object = {}): string =>
  JSON.stringify({ approved: true, score: 0.9, reason: 'One row, by its key.', severity: '', details: {}, ...over });
const YES = said();
const NO = said({ approved: false, severity: 'block' });
const fence = (body: string, tag = 'json'): string => '```' + tag + '\n' + body + '\n```';
const PRETTY = JSON.stringify(JSON.parse(YES), null, '\t');

/** One verdict, wrapped as models wrap it. */
const WRAPPED: Readonly<Record<string, string>> = {
  'nothing around it': YES,
  'tabs and line breaks': PRETTY,
  'white space around it': `\n\n  ${YES}  \n\n`,
  'a byte order mark': `\ufeff${YES}`,
  'a json fence': fence(YES),
  'a fence with a tag in capitals': fence(YES, 'JSON'),
  'a fence without tag': fence(YES, ''),
  'a fence of tildes': `~~~json\n${YES}\n~~~`,
  'a fence with CRLF': '```json\r\n' + YES + '\r\n```\r\n',
  'a fence that is not closed': '```json\n' + YES,
  'a fence in prose': `Here is my review.\n\n${fence(YES)}\n\nLet me know if you need more.`,
  'prose before': `I checked the change and found nothing.\n${YES}`,
  'prose after': `${YES}\nPlease have a person look at line 1.`,
  'prose with brackets': `[note] the change is small. ${YES}`,
  'prose with a placeholder': `The template {id} is replaced by the caller. ${YES}`,
  'prose with a set': `Rows {1, 2, 3} change. ${YES}`,
  'prose with an empty object': `Metadata was {}. ${YES}`,
  'prose with another object': `Metadata was {"affected_rows": 3}. ${YES}`,
  'prose with a lone brace': `A lone } is in the diff, and a lone { too. ${YES}`,
  'code beside it': `if (x) { y(); } else { z(); }\n${YES}\nfn({ a })`,
  Markdown: `## Review\n\n* rows: 1\n* table: orders\n\n${fence(YES)}`,
  'Japanese prose': `問題は見つかりませんでした。\n${YES}`,
  'an emoji': `✅ ${YES}`,
  'a think block': `<think>Is it bounded? Yes.</think>\n${YES}`,
  'a think block with a draft': `<think>First draft: ${NO}</think>\n${YES}`,
  'a tag': `<answer>${YES}</answer>`,
  'inline code': '`' + YES + '`',
  'braces in a string': said({ reason: 'Sets note to "{a} }{ [" on one row.' }),
  'nested details': said({ details: { scope: { rows: [1, { deep: true }] } } }),
  'no severity and no details': '{"approved":true,"score":0.9,"reason":""}',
  'a fence in a string': said({ reason: 'Writes ```json into a text column.' }),
};

/** More than one answer, or none that can be read. */
const UNREADABLE: Readonly<Record<string, string>> = {
  'empty text': '',
  'truncated JSON': YES.slice(0, -4),
  'approved missing': '{"score":1,"reason":"","severity":""}',
  'approved as a string': said({ approved: 'true' }),
  'a score below 0': said({ score: -0.1 }),
  'a score above 1': said({ score: 1.01 }),
  'a score as a string': said({ score: '0.9' }),
  'an unknown severity': said({ severity: 'info' }),
  'a reject in a wrapper beside it': `{"review":{"final":${said({ approved: false })}}}\n${YES}`,
  'prose only': 'Looks good to me, approved.',
  'one word': 'true',
  'two verdicts': `${NO}\n${YES}`,
  'two identical verdicts': `${YES}\n${YES}`,
  'two fences': `${fence(NO)}\n${fence(YES)}`,
  'a quoted verdict before the real one': `The diff says {"approved":true}. My answer: ${NO}`,
  'a verdict and a truncated one': `${YES}\n${NO.slice(0, -20)}`,
  'a truncated verdict and a complete one': `${NO.slice(0, 30)}\n${YES}`,
  'a verdict in other quotes beside it': `{'approved': false}\n${YES}`,
  'a verdict without quotes beside it': `{approved: false}\n${YES}`,
  'a verdict in typographic quotes beside it': `{\u201capproved\u201d : no}\n${YES}`,
  'a decision behind a comment beside it': `{/* final */ "decision": "deny"}\n${YES}`,
  'a decision in escaped quotes beside it': `{\\"decision\\":\\"deny\\"}\n${YES}`,
  'an unquoted decision beside it': `${YES}\n{ decision = stop }`,
  'a wrapper without a key': `{${YES}}`,
  'a wrapper with a key without quotes': `{response: ${YES}, final: no}`,
  'a wrapper object': `{"response":${YES}}`,
  'code around it': `function verdict() { return ${YES}; }`,
  'an array around it': `[${YES}]`,
  'an array in a fence': fence(`[${YES}]`),
  'a string that contains it': JSON.stringify(YES),
  'a think block that is not closed': `<think>Perhaps ${YES}`,
  'a think block that contains it': `<think>${YES}</think>`,
  'a second think block': `<think>a</think><think>${NO}</think>${YES}`,
  'a duplicate key': YES.replace('{', '{"approved":false,'),
  'a duplicate key in an escape': YES.replace('{', '{"\\u0061pproved":false,'),
  'a trailing comma': `${YES.slice(0, -1)},}`,
  'single quotes': "{'approved': true, 'score': 1, 'reason': ''}",
  'more than 64 KiB': `${YES}${' '.repeat(64 * 1024)}`,
};

describe('readVerdict', () => {
  it.each(Object.entries(WRAPPED))('accepts a verdict with %s [T20, F51]', (_, text) => {
    expect(readVerdict(text)).toMatchObject({ ok: true, verdict: { approved: true, score: 0.9 } });
  });

  it.each(Object.entries(UNREADABLE))('rejects %s [T21, T22]', (_, text) => {
    expect(readVerdict(text)).toMatchObject({ ok: false });
  });

  it.each([
    ['opening braces', '{'.repeat(65_536)],
    ['opening brackets', '['.repeat(65_536)],
    ['keys without end', '{"a":'.repeat(13_107)],
    ['backslashes', `{"${'\\'.repeat(65_530)}`],
    ['objects in a row', '{"a":1}'.repeat(9_362)],
    ['verdicts in a row', '{"approved":true}'.repeat(3_800)],
    ['nested arrays', '[[[[[[[[1,'.repeat(6_000)],
  ])('reads 64 KiB of %s in bounded time', (_, text) => {
    expect(readVerdict(text).ok).toBe(false);
    // A generous limit that only super-linear time exceeds.
    expect(leastCpuMs(() => readVerdict(text))).toBeLessThan(200);
  });
});
