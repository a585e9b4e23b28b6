import { runCli, type CliDeps } from '../../cli';
import type { JudgeTools } from '../../cli/deps';
import { parseJudgeText } from '../../policy/judge/parse-line';
import { failing } from '../client/fakes';

async function run(args: string[], input: string | Uint8Array, judge: Partial<JudgeTools> = { parseJudgeText }) {
  let out = '';
  let err = '';
  const deps = failing<CliDeps>({
    version: '1',
    stdout: { isTTY: false, write: (text) => (out += text) },
    stderr: { isTTY: false, write: (text) => (err += text) },
    stdin: { isTTY: false, read: async () => (typeof input === 'string' ? new TextEncoder().encode(input) : input) },
    env: {},
    readFile: async () => new TextEncoder().encode('the bundle'),
    judge: async () => failing<JudgeTools>(judge),
  });
  return { code: await runCli(args, deps), out, err };
}

describe('judge eval', () => {
  it('exits 1 where the judge answered nothing, since 100 % reached a person says nothing of a model', async () => {
    const evaluate = async (rows: readonly { readonly number: number }[]) => ({
      report: {},
      text: 'the figures',
      answered: rows.length - 1,
    });
    const some = await run(['judge', 'eval', '-', '--model', 'm'], 'a\n\nb\n', { evaluate });
    expect([some.code, some.out, some.err]).toEqual([0, 'the figures\n', '']);
    const none = await run(['judge', 'eval', '-', '--model', 'm'], 'a\n', { evaluate });
    expect([none.code, none.out, none.err]).toEqual([1, 'the figures\n', expect.stringMatching(/answered no case/)]);
  });

  it('takes the model of a bundle, and asks for one where there is no bundle', async () => {
    const asked: unknown[] = [];
    const evaluate: JudgeTools['evaluate'] = async (_rows, options) => {
      asked.push(options);
      return { report: {}, text: '', answered: 1 };
    };
    const bare = await run(['judge', 'eval', '-'], 'a', { evaluate });
    expect([bare.code, bare.err]).toEqual([2, 'error: --model is missing\n']);
    await run(['judge', 'eval', '-', '--policy', 'p.yaml', '--target', 'shop', '--base-url', 'http://x'], 'a', {
      evaluate,
    });
    const shop = { baseUrl: 'http://x', atOnce: 4, bundle: 'the bundle', target: 'shop' };
    expect(asked).toEqual([{ model: null, ...shop }]);
  });
});

describe('judge parse', () => {
  it('writes one line for each line that holds something, and says how many held no raw answer', async () => {
    const input = '\ufeff{"id":1,"raw":"fine"}\r\n\r\n{"id":2}\n{"raw":"x"}\n{"id":3,"raw":null}';
    const { code, out, err } = await run(['judge', 'parse', '--jsonl'], input);
    expect(code).toBe(0);
    const unread = {
      status: 'BLOCK',
      reasonCode: 'judge_verdict_parse',
      cause: 'no_object',
      message: 'there is no verdict object in the text',
    };
    expect(out.split('\n').map((row) => (row === '' ? null : JSON.parse(row)))).toEqual([
      { id: 1, ...unread, unchecked: ['policyIds', 'canary'] },
      { id: 2, line: 3, error: expect.stringMatching(/^raw: expected the text/) },
      { id: null, line: 4, error: 'id: expected a text, a number or null' },
      // What servers send for an empty message is an unreadable answer, not an unreadable line.
      { id: 3, ...unread, unchecked: ['policyIds', 'canary'] },
      null,
    ]);
    expect(err).toBe('2 of 4 lines hold no raw answer: see "error"\n');
  });

  it('reads the example of its own help as the help says', async () => {
    const { out } = await run(['judge', 'parse', '--help'], '');
    const raw = out.slice(out.indexOf('{"observations"'), out.indexOf('"high"}') + '"high"}'.length);
    const given = { id: 'a', raw, policyIds: ['no_drop'], canary: '9f2c' };
    const read = await run(['judge', 'parse'], JSON.stringify(given));
    expect(JSON.parse(read.out)).toEqual({ id: 'a', status: 'ALLOW', reasonCode: 'judge_allow' });
  });

  it('refuses what is no UTF-8 as a mistake of the caller', async () => {
    const { code, out, err } = await run(['judge', 'parse'], Uint8Array.of(0xff, 0xfe, 0x7b));
    expect([code, out, err]).toEqual([2, '', 'error: standard input: expected UTF-8 text\n']);
  });
});
