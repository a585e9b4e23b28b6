import { runCommand, temporaryFolder, type FakeRemote } from './run-command';

const { write } = temporaryFolder();

const run = (args: string[], stdin: string | Uint8Array, judge: NonNullable<FakeRemote['judge']> = {}) =>
  runCommand(args, { stdin, remote: { judge } });

describe('judge eval', () => {
  it('exits 1 if the judge answered no case, since the figures then say nothing about the model', async () => {
    const evaluateModelOn = async (_env: object, rows: readonly object[] | null) => ({
      report: {},
      text: 'the figures',
      answered: (rows?.length ?? 200) - 1,
    });
    const some = await run(['judge', 'eval', '-', '--model', 'm'], 'a\n\nb\n', { evaluateModelOn });
    expect([some.code, some.out, some.err]).toEqual([0, 'the figures\n', '']);
    const builtIn = await run(['judge', 'eval', '--model', 'm'], '', { evaluateModelOn });
    expect([builtIn.code, builtIn.out]).toEqual([0, 'the figures\n']);
    const none = await run(['judge', 'eval', '-', '--model', 'm'], 'a\n', { evaluateModelOn });
    expect([none.code, none.out, none.err]).toEqual([1, 'the figures\n', expect.stringMatching(/answered no case/)]);
  });

  it('uses the model of the bundle, and requires --model if there is no bundle', async () => {
    const asked: unknown[] = [];
    const evaluateModelOn = async (_env: object, _rows: unknown, settings: object) => {
      asked.push(settings);
      return { report: {}, text: '', answered: 1 };
    };
    const bare = await run(['judge', 'eval', '-'], 'a', { evaluateModelOn });
    expect([bare.code, bare.err]).toEqual([2, 'error: --model is missing\n']);
    await run(
      ['judge', 'eval', '-', '--policy', write('p.yaml', 'the bundle'), '--target', 'shop', '--base-url', 'http://x'],
      'a',
      {
        evaluateModelOn,
      },
    );
    const shop = { baseUrl: 'http://x', concurrency: 4, bundle: 'the bundle', target: 'shop' };
    expect(asked).toEqual([{ model: null, ...shop }]);
  });
});

describe('judge parse', () => {
  it('writes one line for each line that is not blank, and reports how many contain no raw answer', async () => {
    const input = '\ufeff{"id":1,"raw":"fine"}\r\n\r\n{"id":2}\n{"raw":"x"}\n{"id":3,"raw":null}';
    const { code, out, err } = await run(['judge', 'parse', '--jsonl'], input);
    expect(code).toBe(0);
    const unread = (message: string) => ({
      status: 'BLOCK',
      reasonCode: 'judge_verdict_parse',
      cause: 'no_object',
      message,
      unchecked: ['policyIds', 'canary', 'lines'],
    });
    expect(out.split('\n').map((row) => (row === '' ? null : JSON.parse(row)))).toEqual([
      { id: 1, ...unread('expected a JSON object at character 0') },
      { id: 2, line: 3, error: expect.stringMatching(/^raw: expected the model's text/) },
      { id: null, line: 4, error: 'id: expected a string, a number or null' },
      // Servers send null for an empty message: an unreadable answer, not an unreadable line.
      { id: 3, ...unread('the answer contains no JSON object') },
      null,
    ]);
    expect(err).toBe('2 of 4 lines contain no raw answer: see "error"\n');
  });

  it('parses the example of its help to the output that the help shows', async () => {
    const { out } = await run(['judge', 'parse', '--help'], '');
    const raw = out.slice(out.indexOf('{"observations"'), out.indexOf('"high"}') + '"high"}'.length);
    const given = { id: 'a', raw, policyIds: ['no_drop'], canary: '9f2c', lines: 12 };
    const read = await run(['judge', 'parse'], JSON.stringify(given));
    expect(JSON.parse(read.out)).toEqual({ id: 'a', status: 'ALLOW', reasonCode: 'judge_allow' });
  });

  it('exits 2 if the input is not UTF-8', async () => {
    const { code, out, err } = await run(['judge', 'parse'], Uint8Array.of(0xff, 0xfe, 0x7b));
    expect([code, out, err]).toEqual([2, '', 'error: standard input: expected UTF-8 text\n']);
  });
});
