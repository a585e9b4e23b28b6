import { runCli, type CliDeps } from '../../cli';
import type { EvidenceTools } from '../../cli/deps';
import { CountersignError } from '../../client/errors';
import type { LedgerReport, ReplayReport } from '../../policy/evidence/reports';
import { publishedVectors } from '../support/vectors';
import { failing, hex } from '../client/fakes';

const { texts, trust } = publishedVectors();
const ID = hex('a');
const REPLAY: ReplayReport = {
  changeId: ID,
  equal: true,
  recomputed: 3,
  findings: 9,
  notReproducible: [],
  differences: [],
};
const LEDGER: LedgerReport = {
  ok: true,
  rows: 9,
  changes: 2,
  checkpoints: 1,
  uncovered: 0,
  problems: [],
  problemCount: 0,
};

interface World {
  readonly files?: Readonly<Record<string, string>>;
  readonly tools?: Partial<EvidenceTools>;
  readonly tty?: boolean;
}

async function run(
  args: string[],
  { files = {}, tools, tty = false }: World = {},
): Promise<{ code: number; out: string; err: string; written: Record<string, string> }> {
  let [out, err, clock] = ['', '', 0];
  const written: Record<string, string> = {};
  const all: Record<string, string> = { trust: JSON.stringify(trust), ...texts, ...files };
  const deps: CliDeps = failing<CliDeps>({
    version: '9.9.9',
    stdout: { write: (text) => (out += text), isTTY: tty, columns: 100 },
    stderr: { write: (text) => (err += text), isTTY: tty, columns: 100 },
    stdin: { isTTY: tty, read: async () => new Uint8Array() },
    env: {},
    now: () => new Date((clock += 3_000)),
    readFile: async (path) => {
      if (all[path] === undefined) throw new Error(`${path}: no such file`);
      return new TextEncoder().encode(all[path]);
    },
    writeFile: async (path, text) => void (written[path] = text),
    ...(tools === undefined ? {} : { evidence: async () => failing<EvidenceTools>(tools) }),
  });
  return { code: await runCli(args, deps), out, err, written };
}

describe('verify', () => {
  it('exits 0 for evidence that holds, a verified rollback too, and asks neither server nor database', async () => {
    for (const name of ['committed', 'declined', 'forbidden'] as const) {
      const { code, out, err } = await run(['verify', name, '--trust', 'trust']);
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(/^ok {3}format/);
      expect(out.trimEnd().split('\n').at(-1)).toMatch(/^verified (COMMITTED|ROLLED_BACK)/);
    }
  });

  it('exits 14 and says what failed, in text and in JSON', async () => {
    const broken = { broken: texts.committed.replace('"action"', '"actiom"').replace('COMMITTED', 'COMMITTEE') };
    const text = await run(['verify', 'broken', '--trust', 'trust'], { files: broken });
    expect(text.code).toBe(14);
    expect(text.out).toMatch(/FAIL/);
    const json = await run(['verify', 'broken', '--trust', 'trust', '--json'], { files: broken });
    expect(json.code).toBe(14);
    expect(JSON.parse(json.out)).toMatchObject({ verdict: 'failed' });
  });

  it('exits 14 where the committer is another than the trusted one', async () => {
    const other = JSON.stringify({ operators: trust.operators, committers: trust.operators });
    expect((await run(['verify', 'committed', '--trust', 'other'], { files: { other } })).code).toBe(14);
  });

  it.each([
    ['no trust file', ['verify', 'committed'], {}],
    ['a trust file without committers', ['verify', 'committed', '--trust', 't'], { t: '{"operators":[]}' }],
    ['a trust file that is no JSON', ['verify', 'committed', '--trust', 't'], { t: 'keys' }],
    [
      'a trusted key of small order',
      ['verify', 'committed', '--trust', 't'],
      { t: JSON.stringify({ operators: trust.operators, committers: [`01${'0'.repeat(62)}`] }) },
    ],
  ])('exits 2 with %s', async (_name, args, files) => {
    const { code, out, err } = await run(args, { files });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('--trust');
  });

  it('prints nothing of a file unescaped', async () => {
    const evil = { evil: `{"format":"\u001b[2J"}\n`, trust: JSON.stringify(trust) };
    const { out } = await run(['verify', 'evil', '--trust', 'trust'], { files: evil });
    expect(out).not.toContain('\u001b');
  });
});

describe('export', () => {
  const tools = {
    export: async (_id: string, { bytes }: { readonly bytes: boolean }) => (bytes ? texts.committed : texts.forbidden),
  };

  it('writes the bundle as it is, to standard output or to a file', async () => {
    expect(await run(['export', ID], { tools })).toMatchObject({ code: 0, out: texts.forbidden });
    const filed = await run(['export', ID, '--bytes', '--out', 'f.json', '--json'], { tools });
    expect(filed.written).toEqual({ 'f.json': texts.committed });
    expect(Object.keys(JSON.parse(filed.out))).toEqual(['changeId', 'file', 'bytes']);
  });

  it('writes none to a terminal, and takes nothing but a change id', async () => {
    expect(await run(['export', ID], { tools, tty: true })).toMatchObject({ code: 2, out: '' });
    expect(await run(['export', 'x'], { tools })).toMatchObject({ code: 2, out: '' });
  });

  it('exits 1 for a change that the ledger does not know', async () => {
    const unknown = { export: () => Promise.reject(new CountersignError('not_found', 'no')) };
    expect(await run(['export', ID], { tools: unknown })).toMatchObject({ code: 1, out: '' });
  });
});

describe('replay', () => {
  it('takes a change id or a file, and exits 0 where every byte is equal', async () => {
    const asked: unknown[] = [];
    const tools: Partial<EvidenceTools> = {
      replay: async (of) => (asked.push(of), { kind: 'replayed', report: REPLAY }),
    };
    expect((await run(['replay', ID], { tools })).code).toBe(0);
    expect((await run(['replay', 'committed', '--json'], { tools })).code).toBe(0);
    expect(asked).toEqual([{ changeId: ID }, { file: new TextEncoder().encode(texts.committed) }]);
  });

  it('exits 14 with both texts where a finding differs, and 12 where this process has other validators', async () => {
    const differences = [
      { validatorId: 'guardian.x', recorded: '{"status":"BLOCK"}', recomputed: '{"status":"ALLOW"}' },
    ];
    const differs = await run(['replay', ID], {
      tools: { replay: async () => ({ kind: 'replayed', report: { ...REPLAY, equal: false, differences } }) },
    });
    expect(differs.code).toBe(14);
    expect(differs.out).toContain('  - {"status":"BLOCK"}\n  + {"status":"ALLOW"}');
    expect(
      (await run(['replay', ID], { tools: { replay: async () => ({ kind: 'moved', explanation: 'v2' }) } })).code,
    ).toBe(12);
  });
});

describe('ledger verify', () => {
  it('checks one review or all, tells how far it is on standard error, and exits 14 for a ledger that was changed', async () => {
    const asked: unknown[] = [];
    const tools: Partial<EvidenceTools> = {
      verifyLedger: async (id, progress) => {
        asked.push(id);
        [1000, 2000, 3000].forEach(progress);
        return id === null ? { ...LEDGER, ok: false, problems: ['row 3'], problemCount: 7 } : LEDGER;
      },
    };
    const one = await run(['ledger', 'verify', ID, '--json'], { tools });
    expect([one.code, JSON.parse(one.out)]).toEqual([0, LEDGER]);
    const all = await run(['ledger', 'verify'], { tools });
    expect(all.code).toBe(14);
    expect(all.out).toContain('FAIL row 3\n… 7 problems in all');
    expect(all.err).toContain('2000 rows checked');
    expect(asked).toEqual([ID, null]);
    expect((await run(['ledger', 'verify', 'x'], { tools })).code).toBe(2);
  });
});
