import { runCli, type CliDeps } from '../../cli';
import type { BreakerAdmin, Connected } from '../../cli/deps';
import { CountersignError } from '../../client/errors';
import { createSigner } from '../../client/signer';
import { toResult } from '../../client/result';
import { openEnvelope } from '../../policy/evidence/dsse';
import { sha256Hex } from '../../policy/contracts/hash';
import { ledgerHash } from '../../policy/contracts/ledger';
import { newKeyPair } from '../../signing/keys';
import {
  accepted,
  CHANGE,
  committer,
  failing,
  hex,
  outcome,
  status,
  trust,
  violation,
  withReceipt,
} from '../client/fakes';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface World {
  readonly reviews?: Partial<Connected['reviews']>;
  readonly connected?: Partial<Connected>;
  readonly deps?: Partial<CliDeps>;
  readonly tty?: boolean;
}

const key = newKeyPair();
const SQL = new TextEncoder().encode('UPDATE customers SET tier = 1;\n-- \u202edoog');

async function run(args: string[], world: World = {}): Promise<Ran & { closed: number }> {
  let out = '';
  let err = '';
  let closed = 0;
  const tty = world.tty ?? false;
  const connected: Connected = {
    reviews: failing(world.reviews ?? {}),
    bytes: async () => SQL,
    ledgerRows: null,
    address: '127.0.0.1:7233',
    namespace: 'default',
    ...world.connected,
    close: async () => void closed++,
  };
  const deps: CliDeps = {
    version: '9.9.9',
    stdout: { write: (text) => (out += text), isTTY: tty, columns: 100 },
    stderr: { write: (text) => (err += text), isTTY: tty, columns: 100 },
    stdin: { isTTY: tty, read: async () => SQL },
    env: {},
    now: () => new Date('2026-11-20T10:00:00.000Z'),
    sleep: async () => undefined,
    readFile: async () => SQL,
    writeFile: () => Promise.reject(new Error('not expected')),
    evidence: () => Promise.reject(new Error('not expected')),
    prompt: () => Promise.reject(new Error('nobody may be asked here')),
    connect: async () => connected,
    loadKey: async () => createSigner(key),
    keys: () => Promise.reject(new Error('not expected')),
    breakers: () => Promise.reject(new Error('not expected')),
    operator: () => Promise.reject(new Error('not expected')),
    judge: () => Promise.reject(new Error('not expected')),
    policy: () => Promise.reject(new Error('not expected')),
    writeNewFile: () => Promise.reject(new Error('not expected')),
    runtime: failing({}),
    ...world.deps,
  };
  const code = await runCli(args, deps);
  return { code, out, err, closed };
}

const COMMANDS = [
  ['submit'], ['list'], ['show'], ['answer'], ['sign'], ['result'], ['watch'], ['withdraw'],
  ['keys', 'new'], ['keys', 'register'], ['keys', 'list'], ['keys', 'revoke'], ['ledger', 'show'], ['ledger', 'verify'], ['export'], ['verify'], ['replay'], ['breaker', 'list'], ['breaker', 'reset'], ['judge', 'parse'], ['judge', 'eval'], ['dev'], ['setup'], ['target', 'init'], ['target', 'freeze'], ['target', 'unfreeze'], ['resolve'], ['doctor'],
]; // prettier-ignore

describe('help', () => {
  it.each([[[]], ...COMMANDS.map((command) => [command])])(
    '%s: fits one screen of 24 lines of 80 columns',
    async (command: string[]) => {
      const { code, out, err } = await run([...command, '--help']);
      expect(code).toBe(0);
      expect(err).toBe('');
      const lines = out.trimEnd().split('\n');
      expect(lines.length).toBeLessThanOrEqual(24);
      expect(Math.max(...lines.map((text) => text.length))).toBeLessThanOrEqual(80);
    },
  );

  it('names every command, and --json is an option of each', async () => {
    const { out } = await run(['--help']);
    for (const [name = ''] of COMMANDS) expect(out).toContain(`  ${name}`);
    for (const command of COMMANDS) expect((await run([...command, '--help'])).out).toContain('--json');
  });
});

describe('usage', () => {
  it.each([
    ['no command', []],
    ['an unknown command', ['aprove', 'x']],
    ['an unknown option', ['show', CHANGE, '--force']],
    ['a missing argument', ['show']],
    ['too many arguments', ['show', CHANGE, CHANGE]],
    ['neither violation nor all', ['answer', CHANGE, '--confirm', '--key', 'k']],
    ['both decisions', ['answer', CHANGE, '--all', '--confirm', '--reject', '--key', 'k']],
    ['no key', ['answer', CHANGE, '--all', '--confirm']],
    ['a rejection without reason', ['answer', CHANGE, '--all', '--reject', '--key', 'k']],
    ['no decision', ['answer', CHANGE, '--all', '--key', 'k']],
    ['a wait that is no number', ['result', CHANGE, '--wait', 'long']],
    ['an unknown state', ['list', '--state', 'OPEN']],
  ])('%s exits 2, says so on standard error, and sends nothing', async (_name, args) => {
    const { code, out, err } = await run(args, { reviews: { status: async () => status() } });
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).not.toBe('');
  });

  it('escapes what it repeats of a wrong command line', async () => {
    const { err } = await run(['show', '--\u001b[2Jx']);
    // oxlint-disable-next-line no-control-regex
    expect(err).not.toMatch(/\u001b/);
  });

  it('asks nobody when standard input is no terminal, nor with --no-input, and names the missing option', async () => {
    const reviews = { status: async () => status() };
    const piped = await run(['answer', CHANGE, '--all', '--key', 'k'], { reviews });
    const refused = await run(['answer', CHANGE, '--all', '--key', 'k', '--no-input'], { reviews, tty: true });
    for (const { code, err } of [piped, refused]) {
      expect(code).toBe(2);
      expect(err).toContain('--confirm or --reject is missing');
    }
  });

  it('asks on a terminal, and takes nothing but the two words for an answer', async () => {
    const sent: unknown[] = [];
    const reviews = {
      status: async () => status(),
      answer: async (_id: string, answers: unknown) => (sent.push(answers), accepted()),
    };
    const args = ['answer', CHANGE, '--all', '--key', 'k'];
    expect((await run(args, { reviews, tty: true, deps: { prompt: async () => 'y' } })).code).toBe(2);
    expect(sent).toHaveLength(0);
    expect((await run(args, { reviews, tty: true, deps: { prompt: async () => 'confirm' } })).code).toBe(0);
    expect(sent).toHaveLength(1);
  });
});

describe('show', () => {
  const shown = { reviews: { status: async () => status({ diffSha: sha256Hex(SQL), findings: [finding()] }) } };

  function finding(): ReturnType<typeof status>['findings'][number] {
    return {
      validatorId: 'guardian.sql_update_without_where',
      class: 'POLICY',
      status: 'BLOCK',
      reason: 'no WHERE\u001b[2J\nVIOLATIONS (0)',
      evidenceRefs: [`diff:${sha256Hex(SQL)}#L1:C1-L1:C7`, `diff:${hex('0')}#L2:C1-L2:C2`],
    };
  }

  it('prints diff, findings with their lines, who may answer, fingerprint and deadline', async () => {
    const { code, out, closed } = await run(['show', CHANGE], shown);
    expect(code).toBe(0);
    expect(closed).toBe(1);
    for (const part of [
      'INTERVENTION_REQUIRED',
      'acme/shop',
      'carol',
      hex('f'),
      'in 24 h',
      '1 │ UPDATE customers',
      'L1 │ UPDATE customers',
      'may answer: alice, bob',
      '0 of 1 confirmed',
    ]) {
      expect(out).toContain(part);
    }
  });

  it('writes no ANSI byte and no control or bidi character of the diff when piped', async () => {
    const { out, err } = await run(['show', CHANGE], shown);
    // oxlint-disable-next-line no-control-regex
    expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(out).toContain('-- ⟦U+202E⟧doog');
  });

  it('has colours on a terminal, and none with --no-color', async () => {
    expect((await run(['show', CHANGE], { ...shown, tty: true })).out).toContain('\u001b[');
    expect((await run(['show', CHANGE, '--no-color'], { ...shown, tty: true })).out).not.toContain('\u001b');
  });

  it('does not show bytes that are not those of the digest', async () => {
    const { out, err } = await run(['show', CHANGE], {
      ...shown,
      connected: { bytes: async () => new TextEncoder().encode('SELECT 1') },
    });
    expect(out).not.toContain('SELECT 1');
    expect(out).toContain('do not answer what you cannot see');
    expect(err).toContain('other bytes');
  });

  it('with --json prints the status as one line, bidi characters escaped', async () => {
    const { out } = await run(['show', CHANGE, '--json'], {
      reviews: { status: async () => status({ warnings: ['\u202e'] }) },
    });
    expect(out.trimEnd().split('\n')).toHaveLength(1);
    expect(out).toContain('\\u202e');
    expect(JSON.parse(out)).toEqual(status({ warnings: ['\u202e'] }));
  });
});

describe('answer', () => {
  const two = status({
    violations: [
      violation(),
      violation({ violationId: hex('b') }),
      violation({ violationId: hex('d'), need: 'callback', resolution: 'callback' }),
    ],
  });

  it('signs one answer for each violation that waits, bound to what was shown, and sends them together [V12]', async () => {
    let sent: unknown[] = [];
    const reviews = {
      status: async () => two,
      answer: async (_id: string, answers: readonly unknown[]) => (
        (sent = [...answers]),
        { ...accepted(), ...accepted(hex('b')) }
      ),
    };
    const { code, out } = await run(
      ['answer', CHANGE, '--all', '--confirm', '--reason', 'planned', '--key', 'k', '--json'],
      { reviews },
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      changeId: CHANGE,
      decision: 'confirm',
      results: { ...accepted(), ...accepted(hex('b')) },
    });
    const predicates = sent.map((envelope) => {
      const opened = openEnvelope('answer', envelope);
      return opened.ok ? opened.statement.predicate : null;
    });
    expect(predicates.map((p) => p?.violationId)).toEqual([hex('a'), hex('b')]);
    expect(predicates[0]).toMatchObject({
      changeId: CHANGE,
      fingerprint: hex('f'),
      decision: 'confirm',
      keyId: key.keyId,
      context: { tenant: 'acme', target: 'shop', environment: 'production' },
      issuedAt: '2026-11-20T10:00:00.000Z',
      expiresAt: '2026-11-20T10:10:00.000Z',
    });
    expect(predicates[0]?.nonce).not.toBe(predicates[1]?.nonce);
  });

  it('takes the beginning of an id when only one violation begins so, and refuses a shorter or shared one', async () => {
    const close = status({
      violations: [
        violation({ violationId: 'abcdef11'.padEnd(64, '0') }),
        violation({ violationId: 'abcdef22'.padEnd(64, '0') }),
      ],
    });
    const reviews = { status: async () => close, answer: async () => accepted('abcdef11'.padEnd(64, '0')) };
    const args = (prefix: string): string[] => ['answer', CHANGE, '--violation', prefix, '--confirm', '--key', 'k'];
    expect((await run(args('abcdef1'), { reviews })).code).toBe(0);
    expect((await run(args('abcdef'), { reviews })).code).toBe(2);
    expect((await run(args('abcde'), { reviews })).code).toBe(2);
    expect((await run(args('fffffff'), { reviews })).code).toBe(1);
  });

  it.each([
    ['accepted', 0],
    ['duplicate', 0],
    ['closed', 1],
    ['contradicts', 1],
    ['malformed', 2],
    ['expired', 11],
    ['wrong_fingerprint', 12],
    ['unknown_violation', 12],
    ['not_eligible', 13],
    ['revoked_key', 13],
    ['bad_signature', 14],
  ] as const)('exits for %s with %i', async (code, exit) => {
    const reviews = {
      status: async () => two,
      answer: async () => ({ ...accepted(hex('b')), [hex('a')]: { code, message: '' } }),
    };
    expect((await run(['answer', CHANGE, '--all', '--confirm', '--key', 'k'], { reviews })).code).toBe(exit);
  });
});

describe('sign', () => {
  it('prints the signed message and the whole Temporal command, quoted so that a shell gives back exactly the message', async () => {
    const reviews = { status: async () => status() };
    const args = ['sign', CHANGE, '--all', '--reject', '--reason', `it's "$(rm)" \`x\``, '--key', 'k'];
    const { code, out } = await run(args, { reviews });
    expect(code).toBe(0);
    const [message = '', command = ''] = out.trimEnd().split('\n');
    expect(command).toMatch(
      /^temporal workflow signal --address 127\.0\.0\.1:7233 --namespace default --workflow-id c{64} --name answer --input '/,
    );
    const opened = openEnvelope('answer', JSON.parse(message).answers[0]);
    expect(opened.ok && opened.statement.predicate).toMatchObject({ decision: 'reject', reason: `it's "$(rm)" \`x\`` });
    const { execFileSync } = await import('node:child_process');
    const words = execFileSync('/bin/sh', ['-c', command.replace('temporal ', 'printf "%s\\n" ')], {
      encoding: 'utf8',
    });
    expect(JSON.parse(words.trimEnd().split('\n').at(-1) ?? '')).toEqual(JSON.parse(message));
  });

  it('with --json gives messages, commands and their words', async () => {
    const { out } = await run(['sign', CHANGE, '--all', '--confirm', '--key', 'k', '--json'], {
      reviews: { status: async () => status() },
    });
    const said = JSON.parse(out);
    expect(Object.keys(said)).toEqual(['changeId', 'messages', 'commands', 'argv']);
    expect(JSON.parse(said.argv[0].at(-1))).toEqual(said.messages[0]);
  });
});

describe('result', () => {
  const ended = (overrides: Parameters<typeof outcome>[0], lies: Parameters<typeof withReceipt>[2] = {}) =>
    toResult(CHANGE, withReceipt(committer, outcome(overrides), lies), trust);
  const rolledBack = { state: 'ROLLED_BACK', action: 'ROLLBACK' } as const;

  it.each([
    ['committed and verified', ended({}), 0],
    ['committed, unverified for want of a receipt', toResult(CHANGE, outcome(), trust), 14],
    [
      'committed, by a receipt that says otherwise',
      ended({}, { action: 'ROLLBACK', state: 'ROLLED_BACK', reason: 'declined' }),
      14,
    ],
    ['declined', ended({ ...rolledBack, reason: 'declined' }), 10],
    ['forbidden', ended({ ...rolledBack, reason: 'forbidden' }), 10],
    ['expired', ended({ ...rolledBack, reason: 'expired' }), 11],
    ['stale', ended({ ...rolledBack, reason: 'stale_base' }), 12],
    ['pending', { state: 'PENDING', status: status() } as const, 8],
    ['aborted', { state: 'ABORTED', verified: 'unverified', why: 'terminated' } as const, 14],
  ])('%s exits with its code, in text and in JSON', async (_name, result, code) => {
    const reviews = { result: async () => result };
    expect((await run(['result', CHANGE], { reviews })).code).toBe(code);
    const json = await run(['result', CHANGE, '--json'], { reviews });
    expect(json.code).toBe(code);
    expect(JSON.parse(json.out)).toEqual(JSON.parse(JSON.stringify(result)));
  });

  it('watch says what changed, once, and ends with the outcome', async () => {
    const results = [
      { state: 'PENDING', status: status() },
      { state: 'PENDING', status: status() },
      { state: 'PENDING', status: null },
      ended({}),
    ] as const;
    let asked = 0;
    const { code, out, err } = await run(['watch', CHANGE], {
      reviews: { result: async () => results[asked++] ?? results[3] },
    });
    expect(code).toBe(0);
    expect(asked).toBe(4);
    expect(err.trimEnd().split('\n')).toHaveLength(2);
    expect(out).toContain('COMMITTED');
  });
});

describe('submit', () => {
  it('exits 8 while a human or a worker may still have a say, and prints the id alone on standard output', async () => {
    const reviews = { submit: async () => ({ changeId: CHANGE, preflight: 'pending' as const, outcome: null }) };
    const { code, out } = await run(['submit', 'f.sql', '--target', 'shop', '--tool', 'SQLDryRun'], { reviews });
    expect(code).toBe(8);
    expect(out).toBe(`${CHANGE}\n`);
  });

  it('refuses metadata that is no object', async () => {
    const { code, err } = await run(['submit', '-', '--target', 'shop', '--tool', 'SQLDryRun', '--metadata', '[1]']);
    expect(code).toBe(2);
    expect(err).toContain('metadata: expected a JSON object, got an array of 1');
  });
});

describe('errors', () => {
  it('of many lines go behind a margin, so that no line of a stranger\u2019s looks like one of ours', async () => {
    const reviews = { status: async () => Promise.reject(new Error('Nothing there.\nerror: \u202eforged\n')) };
    const { err } = await run(['show', CHANGE], { reviews });
    expect(err).toBe('error: Nothing there.\n  error: \u27e6U+202E\u27e7forged\n');
  });

  it('go to standard error, as JSON with --json, and leave standard output empty', async () => {
    const reviews = { status: async () => Promise.reject(new CountersignError('not_found', 'No review')) };
    const text = await run(['show', CHANGE], { reviews });
    expect([text.code, text.out, text.err]).toEqual([1, '', 'error: No review\n']);
    const json = await run(['show', CHANGE, '--json'], { reviews });
    expect(JSON.parse(json.err)).toEqual({ error: { code: 'not_found', message: 'No review' } });
    expect(json.closed).toBe(1);
  });
});

describe('operate', () => {
  it('doctor exits 1 when a check fails, and says what to do', async () => {
    const doctor = async () => [{ name: 'Temporal', ok: false, detail: 'no answer', fix: 'countersign dev' }];
    const { code, out } = await run(['doctor'], { deps: { runtime: failing<CliDeps['runtime']>({ doctor }) } });
    expect(code).toBe(1);
    expect(out).toContain('countersign dev');
  });

  it('keys register refuses what is no public key, before it asks for the operator\u2019s', async () => {
    const ran = await run(
      ['keys', 'register', 'abc', '--kind', 'approver', '--subject', 'person:a', '--operator-key', 'o'],
      {
        deps: { keys: async () => failing({}) },
      },
    );
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('64 lower-case hex digits')]);
  });

  it('keys new refuses a kind or subject that is none', async () => {
    expect(
      (
        await run(['keys', 'new', '--kind', 'boss', '--subject', 'person:a', '--out', 'x'], {
          deps: { keys: async () => failing({}) },
        })
      ).code,
    ).toBe(2);
    expect(
      (
        await run(['keys', 'new', '--kind', 'approver', '--subject', 'a', '--out', 'x'], {
          deps: { keys: async () => failing({}) },
        })
      ).code,
    ).toBe(2);
  });

  it('list is tab-separated when piped, and follows the page', async () => {
    const review = {
      changeId: CHANGE, tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun', inputSha: hex('1'), state: 'INTERVENTION_REQUIRED', reason: null, mode: 'enforced',
      requester: null, pending: 2, highestSeverity: 'BLOCK', openedAt: '2026-11-20T10:00:00.000Z', updatedAt: '2026-11-20T10:00:00.000Z', deadlineAt: null, closedAt: null, summary: 'UPDATE\tcustomers',
    } as const; // prettier-ignore
    const { out, err } = await run(['list'], { reviews: { list: async () => ({ reviews: [review], next: 'n1' }) } });
    expect(out.trimEnd().split('\t')).toHaveLength(10);
    expect(err).toContain('--after n1');
  });
});

describe('--json', () => {
  const row = {
    changeId: CHANGE,
    n: 0,
    prev: '0'.repeat(64),
    kind: 'submitted',
    at: '2026-11-20T10:00:00.000Z',
    actor: 'review-worker',
    body: {},
  } as const;
  const admin = {
    create: async () => ({ keyId: hex('1'), publicKey: hex('2'), file: 'k.json', registered: false }),
    register: async () => ({ keyId: hex('1') }),
    list: async () => [],
    revoke: async () => undefined,
  };
  const breakers: BreakerAdmin = { list: async () => [], reset: async () => [], close: async () => undefined };
  const runtime: CliDeps['runtime'] = {
    dev: async (_options, say, started) => {
      say('starting');
      started({ gateway: 'http://127.0.0.1:1' });
    },
    setup: async () => ({ added: ['CountersignStatus'], present: [] }),
    targetInit: async () => ({ done: ['create table marker'] }),
    doctor: async () => [],
  };
  const world: World = {
    reviews: {
      submit: async () => ({ changeId: CHANGE, preflight: 'pending', outcome: null }),
      status: async () => status(),
      evidence: async () => ({}) as never,
      answer: async () => accepted(),
      result: async () => ({ state: 'PENDING', status: status() }),
      list: async () => ({ reviews: [], next: null }),
      withdraw: async () => ({ code: 'accepted', message: '' }),
    },
    connected: { ledgerRows: async () => [{ row, hash: ledgerHash(row) }] },
    deps: { keys: async () => admin, breakers: async () => breakers, runtime },
  };
  const key64 = hex('1');

  it.each<[string[], number, string[]]>([
    [['submit', 'f', '--target', 't', '--tool', 'T'], 8, ['changeId', 'preflight', 'outcome', 'result']],
    [['list'], 0, ['reviews', 'next']],
    [['show', CHANGE, '--evidence'], 0, [...Object.keys(status()), 'evidence']],
    [['answer', CHANGE, '--all', '--confirm', '--key', 'k'], 0, ['changeId', 'decision', 'results']],
    [['sign', CHANGE, '--all', '--confirm', '--key', 'k'], 0, ['changeId', 'messages', 'commands', 'argv']],
    [['result', CHANGE], 8, ['state', 'status']],
    [['watch', CHANGE, '--timeout', '1'], 8, ['state', 'status']],
    [['withdraw', CHANGE, '--actor', 'carol'], 0, ['changeId', 'code', 'message']],
    [
      ['keys', 'new', '--kind', 'approver', '--subject', 'person:a', '--out', 'k'],
      0,
      ['keyId', 'publicKey', 'file', 'registered'],
    ],
    [
      ['keys', 'register', key64, '--kind', 'approver', '--subject', 'person:a', '--operator-key', 'o'],
      0,
      ['keyId', 'registered'],
    ],
    [['keys', 'list'], 0, ['keys']],
    [['keys', 'revoke', key64, '--reason', 'lost', '--operator-key', 'o'], 0, ['keyId', 'revoked']],
    [['ledger', 'show', CHANGE], 0, ['changeId', 'rows', 'chain']],
    [['breaker', 'list'], 0, ['pairs']],
    [['breaker', 'reset', 'acme', 'SQLDryRun', '--reason', 'fixed'], 0, ['tenant', 'sourceTool', 'reset']],
    [['dev'], 0, ['gateway']],
    [['setup'], 0, ['added', 'present']],
    [['target', 'init', 'shop'], 0, ['target', 'done']],
    [['doctor'], 0, ['ok', 'checks']],
  ])('%j prints one line with its members, and talk goes to standard error', async (args, code, members) => {
    const ran = await run([...args, '--json'], world);
    expect(ran.err).not.toContain('error');
    expect(ran.code).toBe(code);
    expect(ran.out.endsWith('\n') && ran.out.trimEnd().split('\n')).toHaveLength(1);
    expect(Object.keys(JSON.parse(ran.out))).toEqual(members);
  });

  it('ledger show exits 14 for a chain that does not hold', async () => {
    const broken = { ledgerRows: async () => [{ row: { ...row, actor: 'somebody' }, hash: ledgerHash(row) }] };
    expect((await run(['ledger', 'show', CHANGE], { connected: broken })).code).toBe(14);
  });
});
