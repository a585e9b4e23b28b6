import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { CountersignError } from '../../client/errors';
import type { LedgerReport, ReplayReport } from '../../policy/evidence/reports';
import { evidenceText, type EvidenceBundle } from '../../policy/evidence/bundle';
import { publishedVectors } from '../support/vectors';
import type { Connected } from '../../cli/reviews/connection';
import { writeLocalClient } from '../../workers/local-client';
import { failing, hex } from '../client/fakes';
import { runCommand, temporaryFolder, type CommandRun, type FakeRemote } from './run-command';

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

const { path, write } = temporaryFolder();
for (const [name, text] of Object.entries(texts)) write(name, text);
write('trust', JSON.stringify(trust));

/** A connection of which no command under test uses more than the evidence. */
const UNUSED: Connected = {
  reviews: failing({}),
  ledgerRows: () => Promise.reject(new Error('the ledger is not read here')),
  evidence: () => Promise.reject(new Error('evidence is not read here')),
  keyFile: null,
  keyId: null,
  temporal: null,
  close: async () => undefined,
};

interface Options {
  readonly exported?: Connected['evidence'];
  readonly evidence?: FakeRemote['evidence'];
  readonly ledger?: FakeRemote['ledger'];
  readonly tty?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: `env`. */
  readonly shellEnv?: Readonly<Record<string, string>>;
}

/** Arguments that name a file of the folder are replaced by its path. Each look at the clock is three seconds later. */
async function run(
  args: string[],
  { exported = UNUSED.evidence, evidence = {}, ledger = {}, tty = false, env = {}, shellEnv = env }: Options = {},
): Promise<CommandRun> {
  let clock = 0;
  return await runCommand(
    args.map((arg) => (existsSync(path(arg)) ? path(arg) : arg)),
    {
      remote: { reviews: { connect: () => ({ ...UNUSED, evidence: exported }) }, evidence, ledger },
      tty,
      host: { env, shellEnv, now: () => new Date((clock += 3_000)) },
    },
  );
}

describe('verify', () => {
  it('exits 0 for valid evidence, also of a rollback, without a server or database', async () => {
    for (const name of ['committed', 'declined', 'forbidden'] as const) {
      const { code, out, err } = await run(['verify', name, '--trust', 'trust']);
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(/^ok {3}checksum/);
      expect(out.trimEnd().split('\n').at(-1)).toMatch(/^verified (COMMITTED|ROLLED_BACK)/);
    }
  });

  it('exits 14 and names the failed check, in text and in JSON', async () => {
    write('broken', texts.committed.replace('"action"', '"actiom"').replace('COMMITTED', 'COMMITTEE'));
    const text = await run(['verify', 'broken', '--trust', 'trust']);
    expect(text.code).toBe(14);
    expect(text.out).toMatch(/FAIL/);
    const json = await run(['verify', 'broken', '--trust', 'trust', '--json']);
    expect(json.code).toBe(14);
    expect(JSON.parse(json.out)).toMatchObject({ verdict: 'failed' });
  });

  it('exits 14 and says incomplete if the rows do not reach the signed head of the change', async () => {
    const { sha256: _sha, ...bundle } = JSON.parse(texts.committed) as EvidenceBundle;
    const rows = bundle.rows.filter(({ row }) => row.kind !== 'head');
    const head = { rows: rows.length, hash: rows.at(-1)?.hash ?? '' };
    write('cut', evidenceText({ ...bundle, rows, head, inclusion: null }));
    const { code, out, err } = await run(['verify', 'cut', '--trust', 'trust']);
    expect(code).toBe(14);
    expect(out.trimEnd().split('\n').at(-1)).toMatch(/^incomplete COMMITTED/);
    expect(err).toContain('does not reach the signed head');
  });

  it('exits 14 if the committer is not a trusted one', async () => {
    write('other', JSON.stringify({ operators: trust.operators, committers: trust.operators }));
    expect((await run(['verify', 'committed', '--trust', 'other'])).code).toBe(14);
  });

  it.each([
    ['no trust file', ['verify', 'committed'], null],
    ['a trust file without committers', ['verify', 'committed', '--trust', 't'], '{"operators":[]}'],
    ['a trust file that is not JSON', ['verify', 'committed', '--trust', 't'], 'keys'],
    [
      'a trusted key of small order',
      ['verify', 'committed', '--trust', 't'],
      JSON.stringify({ operators: trust.operators, committers: [`01${'0'.repeat(62)}`] }),
    ],
  ])('exits 2 with %s', async (_name, args, trustText) => {
    if (trustText !== null) write('t', trustText);
    const { code, out, err } = await run(args, { env: { COUNTERSIGN_STATE_DIR: path('none') } });
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/--trust is missing|trust file /);
  });

  it('takes the trust file from COUNTERSIGN_TRUST_FILE', async () => {
    const env = { COUNTERSIGN_TRUST_FILE: path('trust') };
    expect((await run(['verify', 'committed'], { env })).code).toBe(0);
  });

  it('takes the trusted keys of a state directory only if the shell names it', async () => {
    const databases = { databaseUrl: 'postgres://db', operatorDatabaseUrl: 'postgres://db' };
    const server = { temporalAddress: 'temporal:7233', namespace: 'default', gatewayUrl: 'http://127.0.0.1:8077' };
    mkdirSync(path('dev'));
    const trusted = { operators: [...trust.operators], committers: [...trust.committers] };
    writeLocalClient(path('dev'), { ...server, ...databases, tenant: 'default', ...trusted });
    const named = { COUNTERSIGN_STATE_DIR: path('dev') };
    expect((await run(['verify', 'committed'], { env: named })).code).toBe(0);
    // The default directory can have come with the evidence, with a file cli.env that sets anything.
    const came = { ...named, COUNTERSIGN_TRUST_FILE: path('trust') };
    const { code, err } = await run(['verify', 'committed'], { env: came, shellEnv: {} });
    expect(code).toBe(2);
    expect(err).toContain('--trust is missing');
  });

  it('escapes everything that it prints of a file', async () => {
    write('evil', `{"format":"\u001b[2J"}\n`);
    const { out, err } = await run(['verify', 'evil', '--trust', 'trust']);
    expect(out + err).not.toContain('\u001b');
  });

  it.each([
    ['text that is not JSON', 'version: 1\n', 'the file is not valid JSON, or it was truncated or changed'],
    ['no text', Uint8Array.of(0xff, 0xfe), 'the file is not UTF-8'],
    ['other JSON', '{"operators":[]}', 'the JSON is not an object with "format": "countersign-evidence/v1"'],
    ['JSON that is not an object', '[]', 'the JSON is not an object with "format": "countersign-evidence/v1"'],
  ])(
    'exits 2 with one error that names the file if it contains %s, as replay does',
    async (_name, content, problem) => {
      const file = write('wrong', content);
      for (const args of [
        ['verify', 'wrong', '--trust', 'trust'],
        ['replay', 'wrong'],
      ])
        expect(await run(args)).toEqual({
          code: 2,
          out: '',
          err: `error: ${file}: expected an evidence file as "countersign export" writes it; ${problem}\n`,
        });
    },
  );

  it('exits 14 with one error if the file says that it is evidence and is not in its format', async () => {
    const file = write('changed', texts.committed.replace('"changeId"', '"changedId"'));
    const { code, out, err } = await run(['verify', 'changed', '--trust', 'trust']);
    expect([code, out]).toEqual([14, '']);
    expect(err.startsWith(`error: ${file}: not in the format countersign-evidence/v1: changeId: `)).toBe(true);
    const json = await run(['replay', 'changed', '--json']);
    expect([json.code, JSON.parse(json.err)]).toMatchObject([14, { error: { code: 'not_verified' } }]);
  });
});

describe('export', () => {
  const exported: Connected['evidence'] = async (_id, { bytes }) => (bytes ? texts.committed : texts.forbidden);

  it('writes the bundle unchanged, to standard output or to a file', async () => {
    expect(await run(['export', ID], { exported })).toMatchObject({ code: 0, out: texts.forbidden });
    const filed = await run(['export', ID, '--bytes', '--out', path('f.json'), '--json'], { exported });
    expect(readFileSync(path('f.json'), 'utf8')).toBe(texts.committed);
    expect(Object.keys(JSON.parse(filed.out))).toEqual(['changeId', 'file', 'bytes']);
  });

  it('refuses to print evidence on a terminal, and refuses an id that is not a change id', async () => {
    expect(await run(['export', ID], { exported, tty: true })).toMatchObject({ code: 2, out: '' });
    expect(await run(['export', 'x'], { exported })).toMatchObject({ code: 2, out: '' });
  });

  it('exits 1 for a change that the ledger does not have', async () => {
    const unknown = (): Promise<never> => Promise.reject(new CountersignError('not_found', 'no'));
    expect(await run(['export', ID], { exported: unknown })).toMatchObject({ code: 1, out: '' });
  });
});

describe('replay', () => {
  it('accepts a change id or a file, and exits 0 if every byte is equal', async () => {
    const asked: unknown[] = [];
    const evidence: Options['evidence'] = {
      replayBundle: async (_env, file) => (asked.push(file), { kind: 'replayed', report: REPLAY }),
    };
    const exported: Connected['evidence'] = async (id, { bytes }) => `${id} ${String(bytes)}`;
    expect((await run(['replay', ID], { evidence, exported })).code).toBe(0);
    expect((await run(['replay', 'committed', '--json'], { evidence })).code).toBe(0);
    expect(asked).toEqual([`${ID} true`, Buffer.from(texts.committed)]);
  });

  it('exits 14 for a file that was changed, and computes nothing', async () => {
    write('altered', texts.committed.replace('"tenant":"', '"tenant":"x'));
    const { code, out, err } = await run(['replay', 'altered']);
    expect([code, out]).toEqual([14, '']);
    expect(err).toContain('the file was damaged or changed; "countersign verify" says what differs');
  });

  it('exits 14 with both texts if a finding differs, and 12 if this process has other validators', async () => {
    const differences = [
      { validatorId: 'guardian.x', recorded: '{"status":"BLOCK"}', recomputed: '{"status":"ALLOW"}' },
    ];
    const differs = await run(['replay', 'committed'], {
      evidence: { replayBundle: async () => ({ kind: 'replayed', report: { ...REPLAY, equal: false, differences } }) },
    });
    expect(differs.code).toBe(14);
    expect(differs.out).toContain('  - {"status":"BLOCK"}\n  + {"status":"ALLOW"}');
    expect(
      (
        await run(['replay', 'committed'], {
          evidence: { replayBundle: async () => ({ kind: 'moved', explanation: 'v2' }) },
        })
      ).code,
    ).toBe(12);
  });
});

describe('ledger verify', () => {
  it('checks one review or all, prints progress on standard error, and exits 14 for a ledger that was changed', async () => {
    const asked: unknown[] = [];
    const ledger: Options['ledger'] = {
      verifyLedgerRows: async (_env, id, progress) => {
        asked.push(id);
        [1000, 2000, 3000].forEach(progress);
        return id === null ? { ...LEDGER, ok: false, problems: ['row 3'], problemCount: 7 } : LEDGER;
      },
    };
    const one = await run(['ledger', 'verify', ID, '--json'], { ledger });
    expect([one.code, JSON.parse(one.out)]).toEqual([0, LEDGER]);
    const all = await run(['ledger', 'verify'], { ledger });
    expect(all.code).toBe(14);
    expect(all.out).toContain('FAIL row 3\n… 7 problems in all');
    expect(all.err).toContain('2000 rows checked');
    expect(asked).toEqual([ID, null]);
    expect((await run(['ledger', 'verify', 'x'], { ledger })).code).toBe(2);
  });
});
