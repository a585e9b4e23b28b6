import type { PlanKey } from '../../policy/bundle/plan-keys';
import type { DevFacts } from '../../cli/servers/dev';
import type { Connected } from '../../cli/reviews/connection';
import { CountersignError } from '../../client/errors';
import { toResult, type ReviewResult } from '../../client/result';
import { openEnvelope } from '../../policy/evidence/dsse';
import type { Envelope } from '../../policy/contracts/diff';
import { sha256Hex } from '../../policy/contracts/hash';
import { ledgerHash } from '../../policy/contracts/ledger';
import { CliEnv } from '../../workers/process-env';
import { writeKeyFile } from '../../signing/key-file';
import type { AdmittedAnswer } from '../../policy/contracts/answer';
import { newKeyPair } from '../../signing/keys';
import {
  accepted,
  CHANGE,
  committer,
  failing,
  hex,
  outcome,
  reviewed as reviewedAs,
  status,
  trust,
  violation,
  withReceipt,
} from '../client/fakes';
import { stagingRecord } from '../../dev/staging-record';
import { runCommand, temporaryFolder, type CommandRun, type RunOptions } from './run-command';

interface Options extends RunOptions {
  readonly reviews?: Partial<Connected['reviews']>;
  readonly connected?: Partial<Connected>;
}

const SQL = new TextEncoder().encode('UPDATE customers SET tier = 1;\n-- \u202edoog');
const { path, write } = temporaryFolder();
const key = newKeyPair();
const keyFile = path('approver.json');
writeKeyFile({
  path: keyFile,
  key,
  label: { kind: 'approver', subject: { type: 'person', id: 'alice' }, onBehalfOf: null, demo: false },
  createdAt: '2026-11-20T10:00:00.000Z',
});

const reviewed = (of?: ReturnType<typeof status>) => reviewedAs(of, SQL);
const CONFIRM_ALL = ['answer', CHANGE, '--all', '--confirm', '--key', keyFile];

async function run(args: string[], options: Options = {}): Promise<CommandRun & { readonly closed: number }> {
  let closed = 0;
  const connected: Connected = {
    reviews: failing(options.reviews ?? {}),
    ledgerRows: () => Promise.reject(new Error('the ledger is not read here')),
    evidence: () => Promise.reject(new Error('evidence is not read here')),
    keyFile: null,
    keyId: null,
    temporal: { address: '127.0.0.1:7233', namespace: 'default' },
    ...options.connected,
    close: async () => void closed++,
  };
  const remote = { reviews: { connect: () => connected }, ...options.remote };
  return { ...(await runCommand(args, { stdin: SQL, ...options, remote })), closed };
}

const COMMANDS = [
  ['submit'], ['list'], ['show'], ['answer'], ['sign'], ['result'], ['watch'], ['withdraw'],
  ['keys', 'new'], ['keys', 'register'], ['keys', 'enroll'], ['keys', 'list'], ['keys', 'revoke'], ['ledger', 'show'], ['ledger', 'verify'], ['export'], ['verify'], ['replay'], ['archive'], ['breaker', 'list'], ['breaker', 'reset'], ['judge', 'parse'], ['judge', 'eval'], ['init'], ['up'], ['dev'], ['setup'], ['target', 'init'], ['target', 'freeze'], ['target', 'unfreeze'], ['resolve'], ['doctor'], ['login'], ['logout'], ['whoami'],
  ...['check', 'test', 'eval', 'explain', 'bench', 'backtest', 'schema', 'init', 'publish', 'revoke', 'show'].map((name) => ['policy', name]),
]; // prettier-ignore
const COMMAND_GROUPS = [...new Set(COMMANDS.filter(([, name]) => name !== undefined).map(([group = '']) => group))];

describe('environment', () => {
  const variables = Object.entries(CliEnv.shape).map(([name, schema]) => ({ name, schema }));

  it.each(variables.filter(({ schema }) => !schema.safeParse('').success))(
    'exits 2 and names $name if it is set to nothing, before anything is connected',
    async ({ name }) => {
      const { code, out, err } = await run(['list'], { host: { env: { [name]: '' } } });
      expect([code, out]).toEqual([2, '']);
      expect(err).toMatch(/^error: Invalid environment/);
      expect(err).toContain(`${name}: is empty`);
    },
  );

  it('accepts an empty list of extensions and an empty suffix of queues, and nothing else that is empty', () => {
    const accepted = variables.filter(({ schema }) => schema.safeParse('').success);
    expect(accepted.map(({ name }) => name)).toEqual(['COUNTERSIGN_QUEUE_SUFFIX', 'COUNTERSIGN_EXTENSIONS']);
  });

  it('exits 2 with a URL of a database that is not one, and does not print it', async () => {
    const env = { COUNTERSIGN_OPERATOR_DATABASE_URL: 'cs_operator:secret@db' };
    const { code, err } = await run(['list'], { host: { env } });
    expect(code).toBe(2);
    expect(err).toContain('COUNTERSIGN_OPERATOR_DATABASE_URL: expected postgres://role:password@host:port/database');
    expect(err).not.toContain('secret');
  });

  it.each(['https://user:secret@gateway.example', 'https:user:secret@gateway.example'])(
    'exits 2 with a password in the URL of the gateway, and does not print it',
    async (url) => {
      const env = { COUNTERSIGN_GATEWAY_URL: url };
      const { code, err } = await run(['doctor'], { host: { env } });
      expect(code).toBe(2);
      expect(err).toContain('COUNTERSIGN_GATEWAY_URL: expected a URL without user and password');
      expect(err).not.toContain('secret');
    },
  );

  it('prints help whatever the environment is', async () => {
    expect(await run(['list', '--help'], { host: { env: { COUNTERSIGN_DATABASE_URL: '' } } })).toMatchObject({
      code: 0,
    });
  });
});

describe('help', () => {
  it.each([[[]], ...COMMAND_GROUPS.map((group) => [[group]]), ...COMMANDS.map((command) => [command])])(
    '%s: fits in 24 lines of 80 columns',
    async (command: string[]) => {
      const { code, out, err } = await run([...command, '--help']);
      expect(code).toBe(0);
      expect(err).toBe('');
      const lines = out.trimEnd().split('\n');
      expect(lines.length).toBeLessThanOrEqual(24);
      expect(Math.max(...lines.map((text) => text.length))).toBeLessThanOrEqual(80);
    },
  );

  it('calls the key of an operator --operator-key in each command, and that of others --key', async () => {
    for (const command of COMMANDS) {
      const { out } = await run([...command, '--help']);
      expect({ command, options: out.match(/^ *--key .*operator.*$/m) }).toEqual({ command, options: null });
    }
  });

  it('is also that of the command help, which no list shows', async () => {
    const show = await run(['show', '--help']);
    expect(await run(['help', 'show'])).toEqual(show);
    expect(await run(['keys', 'help', 'new'])).toEqual(await run(['keys', 'new', '--help']));
    expect((await run(['help'])).out).toBe((await run(['--help'])).out);
    for (const command of [[], ['keys']])
      expect((await run([...command, '--help'])).out).not.toContain('help [command]');
  });

  it('lists every command, and each has --json', async () => {
    const { out } = await run(['--help']);
    for (const [name = ''] of COMMANDS) expect(out).toContain(`  ${name}`);
    for (const command of COMMANDS) expect((await run([...command, '--help'])).out).toContain('--json');
  });
});

describe('usage', () => {
  it.each(['agent:bot', 'service:ci'])('makes no approver key for %s, and registers none', async (subject) => {
    const holder = ['--kind', 'approver', '--subject', subject, '--tenant', 'acme'];
    for (const args of [
      ['new', ...holder, '--out', path('never')],
      ['register', hex('1'), ...holder, '--operator-key', 'o'],
    ])
      expect(await run(['keys', ...args], { remote: { keys: {} } })).toMatchObject({
        code: 2,
        err: `error: --subject: expected person:<id>, since only people approve, got "${subject}"\n`,
      });
  });

  it.each([
    ['approve', 'countersign answer ID --violation K --confirm'],
    ['reject', 'countersign answer ID --violation K --reject --reason WHY'],
    ['undo', 'countersign withdraw ID, or countersign answer ID --violation K --reject --reason WHY;'],
    ['rollback', 'a committed change is undone by another change'],
  ])('exits 2 for the command %s, which does not exist, and says what to use', async (word, instead) => {
    const { code, out, err } = await run([word, CHANGE]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`error: unknown command '${word}'\n`);
    expect(err).toContain(instead);
  });

  it.each([
    ['no command', []],
    ['an unknown command', ['aprove', 'x']],
    ['an unknown option', ['show', CHANGE, '--force']],
    ['a missing argument', ['show']],
    ['too many arguments', ['show', CHANGE, CHANGE]],
    ['neither violation nor all', ['answer', CHANGE, '--confirm', '--key', keyFile]],
    ['both decisions', ['answer', CHANGE, '--all', '--confirm', '--reject', '--key', keyFile]],
    ['no key', ['answer', CHANGE, '--all', '--confirm']],
    ['a confirmation and a retraction', ['answer', CHANGE, '--all', '--confirm', '--retract', '--key', keyFile]],
    ['a withdrawal without key', ['withdraw', CHANGE]],
    ['a rejection without reason', ['answer', CHANGE, '--all', '--reject', '--key', keyFile]],
    ['no decision', ['answer', CHANGE, '--all', '--key', keyFile]],
    ['a wait that is not a number', ['result', CHANGE, '--wait', 'long']],
    ['an unknown state', ['list', '--state', 'OPEN']],
  ])('%s exits 2 with a message on standard error, and sends nothing', async (_name, args) => {
    const { code, out, err } = await run(args, { reviews: { review: async () => reviewed() } });
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).not.toBe('');
  });

  it('exits 2 if an option is given twice, and repeats none of its values', async () => {
    const twice = ['--violation', hex('a'), '--violation', hex('b')];
    const { code, err } = await run(['answer', CHANGE, ...twice, '--confirm', '--key', keyFile]);
    expect([code, err]).toEqual([2, 'error: --violation was given twice\n(see --help)\n']);
  });

  it('escapes what it repeats of an invalid command line', async () => {
    const { err } = await run(['show', '--\u001b[2Jx']);
    // oxlint-disable-next-line no-control-regex
    expect(err).not.toMatch(/\u001b/);
  });

  it('does not prompt without a terminal or with --no-input, and names the missing option', async () => {
    const reviews = { review: async () => reviewed() };
    const piped = await run(['answer', CHANGE, '--all', '--key', keyFile], { reviews });
    const refused = await run(['answer', CHANGE, '--all', '--key', keyFile, '--no-input'], { reviews, tty: true });
    for (const { code, err } of [piped, refused]) {
      expect(code).toBe(2);
      expect(err).toContain('--confirm or --reject is missing');
    }
  });

  it('prompts on a terminal, and accepts only "confirm" and "reject"', async () => {
    const sent: unknown[] = [];
    const reviews = {
      review: async () => reviewed(),
      answer: async (_id: string, answers: unknown) => (sent.push(answers), accepted()),
    };
    const args = ['answer', CHANGE, '--all', '--key', keyFile];
    expect((await run(args, { reviews, tty: true, host: { prompt: async () => 'y' } })).code).toBe(2);
    expect(sent).toHaveLength(0);
    expect((await run(args, { reviews, tty: true, host: { prompt: async () => 'confirm' } })).code).toBe(0);
    expect(sent).toHaveLength(1);
  });
});

describe('show', () => {
  const shown = {
    reviews: { review: async () => reviewed(status({ diffSha: sha256Hex(SQL), findings: [finding()] })) },
  };

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
      'in 24 h',
      '1 │ UPDATE customers',
      'L1 │ UPDATE customers',
      'of approvers: alice, bob; four eyes',
      '0 of 1 confirmed',
    ]) {
      expect(out).toContain(part);
    }
    expect((await run(['show', CHANGE, '--all'], shown)).out).toContain(hex('f'));
  });

  it('writes no escape sequence, control or bidi character of the diff when piped', async () => {
    const { out, err } = await run(['show', CHANGE], shown);
    // oxlint-disable-next-line no-control-regex
    expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(out).toContain('-- ⟦U+202E⟧doog');
  });

  it('uses colours on a terminal, but not with --no-color', async () => {
    expect((await run(['show', CHANGE], { ...shown, tty: true })).out).toContain('\u001b[');
    expect((await run(['show', CHANGE, '--no-color'], { ...shown, tty: true })).out).not.toContain('\u001b');
  });

  it.each([
    ['show'],
    ['answer', '--all', '--confirm', '--key', keyFile],
    ['sign', '--all', '--confirm', '--key', keyFile],
  ])('%s exits 14, shows nothing and signs nothing if the review does not verify', async (command, ...options) => {
    const differs = new CountersignError('not_verified', 'Review does not verify\nbytes: the digest differs');
    const { code, out, err } = await run([command, CHANGE, ...options], {
      reviews: { review: () => Promise.reject(differs) },
    });
    expect([code, out]).toEqual([14, '']);
    expect(err).toContain('bytes: the digest differs');
  });

  it('with --json prints the status as one line, bidi characters escaped', async () => {
    const { out } = await run(['show', CHANGE, '--json'], {
      reviews: { review: async () => reviewed(status({ warnings: ['\u202e'] })) },
    });
    expect(out.trimEnd().split('\n')).toHaveLength(1);
    expect(out).toContain('\\u202e');
    expect(JSON.parse(out)).toEqual(status({ warnings: ['\u202e'] }));
  });
});

it.each([
  ['show', []],
  ['answer', ['--all', '--confirm', '--key', keyFile]],
  ['sign', ['--all', '--confirm', '--key', keyFile]],
])(
  '%s prints the dry run, with the columns that are not compared and the rows before → after',
  async (command, more) => {
    const notCompared = [{ table: 'orders', column: 'seen', why: 'a clock' }];
    const rows = [{ before: { id: '1', paid: 'no' }, after: { id: '1', paid: 'yes' } }];
    const review = {
      ...reviewed(),
      staging: stagingRecord({ previewSha: hex('7'), notCompared }),
      preview: { tables: [{ table: 'orders', total: 1, rows }], moreTables: 0 },
    };
    const reviews = { review: async () => review, answer: async () => accepted() };
    const { code, out, err } = await run([command, CHANGE, ...more], { reviews });
    expect(code).toBe(0);
    const text = command === 'show' ? out : err;
    expect(text).toContain('orders.seen: a clock');
    expect(text).toContain('paid: "no" → "yes"');
  },
);

describe('answer', () => {
  it('prints the warnings of the review before it asks', async () => {
    const warned = 'The key that signed a record was revoked: this change cannot be committed';
    const { out, err } = await run(CONFIRM_ALL, {
      reviews: { review: async () => reviewed(status({ warnings: [warned] })), answer: async () => accepted() },
    });
    expect(err).toContain(`  ! ${warned}`);
    expect(out).not.toContain(warned);
  });

  const two = status({
    violations: [
      violation(),
      violation({ violationId: hex('b') }),
      violation({ violationId: hex('d'), need: 'callback', resolution: 'callback' }),
    ],
  });

  it.each(['ROLLED_BACK', 'COMMITTED', 'COMMITTING'] as const)(
    'refuses --all for a review that is %s, and sends nothing, though a violation has no answer',
    async (state) => {
      const reviews = { review: async () => reviewed(status({ state, violations: [violation()] })) };
      const { code, err } = await run(CONFIRM_ALL, { reviews });
      expect([code, err]).toEqual([1, `error: Review ${CHANGE} is ${state}: no violation waits for an answer\n`]);
    },
  );

  it('says how the review ended if no violation waits for an answer any more', async () => {
    const ended = outcome({ state: 'ROLLED_BACK', action: 'ROLLBACK', reason: 'expired' });
    const review = { ...reviewed(status({ state: 'ROLLED_BACK' })), outcome: ended };
    const { code, err } = await run(CONFIRM_ALL, {
      reviews: { review: async () => review },
    });
    expect([code, err]).toEqual([
      1,
      `error: Review ${CHANGE} is ROLLED_BACK (expired): no violation waits for an answer\n`,
    ]);
  });

  it('names the Temporal server that did not answer, except in JSON', async () => {
    const late = () => Promise.reject(new CountersignError('temporal_unavailable', 'Temporal did not answer in time'));
    const asked = { reviews: { result: late } };
    const { code, err } = await run(['result', CHANGE], asked);
    expect(code).toBe(1);
    expect(err).toContain('Temporal is expected at 127.0.0.1:7233, namespace default; countersign doctor checks it\n');
    const json = await run(['result', CHANGE, '--json'], asked);
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: 'temporal_unavailable' } });
  });

  it('says who registers a key that is not known', async () => {
    const refused = { [hex('a')]: { code: 'unknown_key', message: 'key 1 is not in the registry' } as const };
    const reviews = { review: async () => reviewed(), answer: async () => refused };
    const { code, err } = await run(CONFIRM_ALL, { reviews });
    expect(code).toBe(13);
    expect(err).toContain('an operator registers a key with: countersign keys register PUBLIC-KEY\n');
  });

  it('names a violation with as many digits as no other one begins with', async () => {
    const [one, other] = [`${'a'.repeat(9)}1${'0'.repeat(54)}`, `${'a'.repeat(9)}2${'0'.repeat(54)}`];
    const similar = status({ violations: [violation({ violationId: one }), violation({ violationId: other })] });
    const shown = await run(['show', CHANGE], { reviews: { review: async () => reviewed(similar) } });
    for (const id of [one, other]) expect(shown.out).toContain(`--violation ${id.slice(0, 10)} --confirm`);
  });

  it('signs one answer for each pending violation, bound to what was shown, and sends them together [V12]', async () => {
    let sent: unknown[] = [];
    const reviews = {
      review: async () => reviewed(two),
      answer: async (_id: string, answers: readonly unknown[]) => (
        (sent = [...answers]),
        { ...accepted(), ...accepted(hex('b')) }
      ),
    };
    const { code, out } = await run(
      ['answer', CHANGE, '--all', '--confirm', '--reason', 'planned', '--key', keyFile, '--json'],
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

  it('accepts a prefix of an id that only one violation has, and refuses a shorter or ambiguous one', async () => {
    const close = status({
      violations: [
        violation({ violationId: 'abcdef1111'.padEnd(64, '0') }),
        violation({ violationId: 'abcdef1122'.padEnd(64, '0') }),
      ],
    });
    const answer = jest.fn(async () => accepted('abcdef1111'.padEnd(64, '0')));
    const answering = (prefix: string) =>
      run(['answer', CHANGE, '--violation', prefix, '--confirm', '--key', keyFile], {
        reviews: { review: async () => reviewed(close), answer },
      });
    expect(await answering('abcdef11')).toMatchObject({
      code: 2,
      err: expect.stringContaining('matches 2 violations'),
    });
    expect((await answering('abcdef1')).code).toBe(2);
    expect((await answering('ffffffff')).code).toBe(1);
    expect(answer).not.toHaveBeenCalled();
    expect((await answering('abcdef111')).code).toBe(0);
    expect(answer).toHaveBeenCalledTimes(1);
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
    ['sent', 14],
    ['a code of a later version', 14],
  ])('exits for %s with %i', async (code, exit) => {
    const reviews = {
      review: async () => reviewed(two),
      answer: async () => ({ ...accepted(hex('b')), ...accepted(hex('a'), code) }),
    };
    expect((await run(CONFIRM_ALL, { reviews })).code).toBe(exit);
  });

  it('names the owner of the key, and through a gateway says whose word the result is', async () => {
    const owners: unknown[] = [];
    const answer: Connected['reviews']['answer'] = async (_id, _answers, options) => (
      owners.push(options?.owners),
      accepted()
    );
    const reviews = { review: async () => reviewed(two), answer };
    const said = 'Only the gateway says that an answer was recorded';
    expect((await run(CONFIRM_ALL, { reviews })).err).not.toContain(said);
    const gateway = await run(CONFIRM_ALL, { reviews, connected: { temporal: null } });
    expect(gateway).toMatchObject({ code: 0, err: expect.stringContaining(said) });
    expect(owners).toEqual([new Map([[key.keyId, 'alice']]), new Map([[key.keyId, 'alice']])]);
    const refused = { ...reviews, answer: async () => accepted(hex('a'), 'closed') };
    expect((await run(CONFIRM_ALL, { reviews: refused, connected: { temporal: null } })).err).not.toContain(said);
  });
});

describe('answer --retract', () => {
  const confirmed = {
    violationId: hex('a'),
    person: 'alice',
    decision: 'confirm',
    digest: hex('9'),
    issuedAt: '2026-11-20T09:00:00.000Z',
    retracts: null,
  } as AdmittedAnswer;
  const answeredWith = (...answers: readonly AdmittedAnswer[]) => ({ ...reviewed(), answers });
  const retractAll = ['answer', CHANGE, '--all', '--retract', '--key', keyFile];

  it('signs a retraction that names the confirmation of the owner of the key', async () => {
    const sent: Envelope[] = [];
    const reviews = {
      review: async () => answeredWith(confirmed, { ...confirmed, person: 'bob', digest: hex('8') }),
      answer: async (_id: string, answers: readonly unknown[]) => (sent.push(...(answers as Envelope[])), accepted()),
    };
    const violation = ['--violation', hex('a')];
    for (const chosen of [['--all'], violation]) {
      const args = ['answer', CHANGE, ...chosen, '--retract', '--key', keyFile];
      expect((await run(args, { reviews })).code).toBe(0);
    }
    const predicates = sent.map((envelope) => openEnvelope('answer', envelope));
    for (const opened of predicates)
      expect(opened).toMatchObject({
        statement: { predicate: { decision: 'retract', retracts: hex('9'), violationId: hex('a') } },
      });
    expect(predicates).toHaveLength(2);
  });

  it('sends nothing if there is no confirmation, or it was taken back before', async () => {
    const retracted = { ...confirmed, decision: 'retract', digest: hex('7'), retracts: hex('9') } as const;
    for (const review of [answeredWith(), answeredWith(confirmed, retracted)]) {
      const { code, err } = await run(retractAll, { reviews: { review: async () => review } });
      expect([code, err]).toEqual([1, expect.stringContaining('no confirmation')]);
    }
  });
});

describe('withdraw', () => {
  it.each([
    ['accepted', 0],
    ['duplicate', 0],
    ['too_late', 1],
    ['not_eligible', 13],
    ['bad_signature', 14],
    ['sent', 14],
  ] as const)('exits for %s with %i', async (code, exit) => {
    const reviews = { withdraw: async () => ({ code, message: '' }) };
    expect((await run(['withdraw', CHANGE, '--key', keyFile], { reviews })).code).toBe(exit);
  });
});

describe('sign', () => {
  it('prints the signed message and the Temporal command, quoted so that a shell passes exactly the message', async () => {
    const reviews = { review: async () => reviewed() };
    const args = ['sign', CHANGE, '--all', '--reject', '--reason', `it's "$(rm)" \`x\``, '--key', keyFile];
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

  it('with --json prints messages, commands and their arguments', async () => {
    const { out } = await run(['sign', CHANGE, '--all', '--confirm', '--key', keyFile, '--json'], {
      reviews: { review: async () => reviewed() },
    });
    const printed = JSON.parse(out);
    expect(Object.keys(printed)).toEqual(['changeId', 'messages', 'commands', 'argv']);
    expect(JSON.parse(printed.argv[0].at(-1))).toEqual(printed.messages[0]);
  });
});

describe('result', () => {
  const ended = (overrides: Parameters<typeof outcome>[0], lies: Parameters<typeof withReceipt>[2] = {}) =>
    toResult(CHANGE, withReceipt(committer, outcome(overrides), lies), trust);
  const rolledBack = { state: 'ROLLED_BACK', action: 'ROLLBACK' } as const;

  it.each([
    ['committed and verified', ended({}), 0],
    ['committed, without a receipt', toResult(CHANGE, outcome(), trust), 14],
    [
      'committed, with a receipt that contradicts it',
      ended({}, { action: 'ROLLBACK', state: 'ROLLED_BACK', reason: 'declined' }),
      14,
    ],
    ['declined', ended({ ...rolledBack, reason: 'declined' }), 10],
    ['forbidden', ended({ ...rolledBack, reason: 'forbidden' }), 10],
    ['expired', ended({ ...rolledBack, reason: 'expired' }), 11],
    ['stale', ended({ ...rolledBack, reason: 'stale_base' }), 12],
    ['pending', { state: 'PENDING', status: status() } as const, 8],
    ['aborted', { state: 'ABORTED', verified: false, why: 'terminated' } as const, 14],
  ])('%s exits with its code, in text and in JSON', async (_name, result, code) => {
    const reviews = { result: async () => result, review: async () => reviewed() };
    expect((await run(['result', CHANGE], { reviews })).code).toBe(code);
    const json = await run(['result', CHANGE, '--json'], { reviews });
    expect(json.code).toBe(code);
    expect(JSON.parse(json.out)).toEqual(JSON.parse(JSON.stringify(result)));
  });

  it('watch reports each change once, and ends with the outcome', async () => {
    const results = [
      { state: 'PENDING', status: status() },
      { state: 'PENDING', status: status() },
      { state: 'PENDING', status: null },
      ended({}),
    ] as const;
    let asked = 0;
    const { code, out, err } = await run(['watch', CHANGE], {
      reviews: { result: async () => results[asked++] ?? results[3], review: async () => reviewed() },
    });
    expect(code).toBe(0);
    expect(asked).toBe(4);
    expect(err.trimEnd().split('\n')).toHaveLength(2);
    expect(out).toContain('COMMITTED');
  });
});

describe('a wait', () => {
  const away = new CountersignError('gateway_unavailable', 'The gateway did not answer');
  const ended = toResult(CHANGE, withReceipt(committer, outcome()), trust);
  const submit = async () => ({ changeId: CHANGE, preflight: 'pending' as const, outcome: null });
  const file = () => write('wait.sql', SQL);
  const asked = (...replies: (ReviewResult | Error)[]) => {
    const result = async () => {
      const reply = replies.shift() ?? ended;
      if (reply instanceof Error) throw reply;
      return reply;
    };
    return { submit, result, review: async () => reviewed() };
  };
  const pending = { state: 'PENDING', status: status() } as const;
  const commands: [string, () => string[]][] = [
    ['result', () => ['result', CHANGE, '--wait', '60']],
    ['watch', () => ['watch', CHANGE]],
    ['submit', () => ['submit', file(), '--target', 'shop', '--tool', 'SQLDryRun', '--wait', '60']],
  ];

  it.each(commands)('of %s goes on after the gateway did not answer for a moment', async (_name, args) => {
    const ran = await run(args(), { reviews: asked(pending, away, away) });
    expect(ran.code).toBe(0);
  });

  it.each(commands)('of %s ends if the gateway does not answer its first call', async (_name, args) => {
    expect(await run(args(), { reviews: asked(away) })).toMatchObject({
      code: 1,
      err: expect.stringContaining('The gateway did not answer'),
    });
  });

  it('of submit prints the id of the change before, and with --json also if it fails', async () => {
    const refused = new CountersignError('not_verified', 'keys: the registration differs');
    const [, args] = commands[2]!;
    expect(await run(args(), { reviews: asked(refused) })).toMatchObject({ code: 14, out: `${CHANGE}\n` });
    const json = await run([...args(), '--json'], { reviews: asked(refused) });
    expect(JSON.parse(json.out)).toMatchObject({ changeId: CHANGE, result: null });
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: 'not_verified' } });
  });
});

describe('submit', () => {
  const sent = async () => ({ changeId: CHANGE, preflight: 'pending' as const, outcome: null });
  const notOpened = () => Promise.reject(new CountersignError('not_found', 'No review'));
  const args = () => ['submit', write('f.sql', SQL), '--target', 'shop', '--tool', 'SQLDryRun'];

  it('says whose key submitted the same change before, and when, and nothing if it was its own key', async () => {
    const submittedBy = { keyId: hex('7'), subject: 'agent:other\u202e', at: '2026-11-19T08:30:00.000Z' };
    const review = async () => ({ ...reviewed(), submittedBy });
    const submit = (keyId: string | null, ...more: string[]) =>
      run([...args(), ...more], { reviews: { submit: sent, review }, connected: { keyId } });
    for (const keyId of [null, hex('8')]) {
      const { code, out, err } = await submit(keyId);
      expect([code, out]).toEqual([8, `${CHANGE}\n`]);
      expect(err.replaceAll('\n', ' ')).toContain(
        `submitted before by another key, ${'7'.repeat(16)} of agent:other⟦U+202E⟧, at 2026-11-19 08:30Z`
          .replace('⟦', '\u27e6')
          .replace('⟧', '\u27e7'),
      );
    }
    expect((await submit(hex('7'))).err).not.toContain('before');
    expect(JSON.parse((await submit(hex('8'), '--json')).out)).toMatchObject({ submittedBefore: submittedBy });
    expect(JSON.parse((await submit(hex('7'), '--json')).out)).toMatchObject({ submittedBefore: null });
  });

  it('exits 8 while the review is open, prints only the id on standard output, and says what has fired, or how it ended before', async () => {
    const of = (id: string, status: string) => ({
      ...{ validatorId: id, phase: 'preflight', class: 'POLICY', status, reason: `reason of ${id}`, evidenceRefs: [] },
    });
    const preflight = {
      ...{ changeId: CHANGE, planHash: hex('1'), provisional: true as const, forbidden: false },
      findings: [of('guardian.fires', 'WARN'), of('guardian.waits', 'SKIPPED'), of('guardian.passes', 'ALLOW')],
    };
    const submit = async (outcome: unknown, findings = preflight.findings) =>
      await run(args(), {
        reviews: {
          submit: async () => ({ changeId: CHANGE, preflight: { ...preflight, findings }, outcome }) as never,
          review: notOpened,
          result: async () => ({ status: 'PENDING', changeId: CHANGE, state: 'JUDGING' }) as never,
        },
      });
    const open = await submit(null);
    expect([open.code, open.out]).toEqual([8, `${CHANGE}\n`]);
    expect(open.err).toContain('reason of guardian.fires');
    expect(open.err).not.toMatch(/guardian\.(waits|passes)/);
    expect((await submit(null, preflight.findings.slice(1))).err).toContain('no check has fired so far');
    const ended = await submit({});
    expect(ended.err).toContain('this change was reviewed before');
    expect(ended.err).not.toContain('guardian');
  });

  it('refuses metadata that is not an object', async () => {
    const { code, err } = await run(['submit', '-', '--target', 'shop', '--tool', 'SQLDryRun', '--metadata', '[1]']);
    expect(code).toBe(2);
    expect(err).toContain('--metadata: expected a JSON object, got an array of 1');
    const twice = ['submit', '-', '--target', 'shop', '--tool', 'SQLDryRun', '--metadata', '{"rows": 1, "rows": 2}'];
    expect((await run(twice)).err).toContain('line 1 column 13: the second member of this name in one object');
  });
});

describe('errors', () => {
  it('of several lines are indented, so that untrusted text cannot imitate another message', async () => {
    const reviews = { review: async () => Promise.reject(new Error('Nothing there.\nerror: \u202eforged\n')) };
    const { err } = await run(['show', CHANGE], { reviews });
    expect(err).toBe('error: Nothing there.\n  error: \u27e6U+202E\u27e7forged\n');
  });

  it('go to standard error, as JSON with --json, and leave standard output empty', async () => {
    const reviews = { review: async () => Promise.reject(new CountersignError('not_found', 'No review')) };
    const text = await run(['show', CHANGE], { reviews });
    expect([text.code, text.out, text.err]).toEqual([1, '', 'error: No review\n']);
    const json = await run(['show', CHANGE, '--json'], { reviews });
    expect(JSON.parse(json.err)).toEqual({ error: { code: 'not_found', message: 'No review' } });
    expect(json.closed).toBe(1);
  });
});

describe('operate', () => {
  it('doctor exits 1 if a check fails, and prints what to do', async () => {
    const doctor = async () => [{ name: 'Temporal', ok: false, detail: 'no answer', fix: 'countersign dev' }];
    const { code, out } = await run(['doctor'], { remote: { doctor: { doctor } } });
    expect(code).toBe(1);
    expect(out).toContain('countersign dev');
  });

  it('keys register refuses an invalid public key before it reads the operator key', async () => {
    const ran = await run('keys register abc --kind approver --subject person:a --operator-key o'.split(' '));
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('64 lower-case hex digits')]);
  });

  it.each([
    ['--kind', ['--kind', 'boss', '--subject', 'person:a']],
    ['--subject', ['--kind', 'approver', '--subject', 'a']],
    ['--subject', ['--kind', 'approver', '--subject', 'person:alice smith', '--tenant', 'acme']],
    ['--on-behalf-of', ['--kind', 'service', '--subject', 'agent:a', '--on-behalf-of', 'agent:b', '--tenant', 'acme']],
    ['--tenant', ['--kind', 'service', '--subject', 'agent:a']],
    ['--tenant', ['--kind', 'service', '--subject', 'agent:a', '--tenant', 'a b']],
    ['--rights', ['--kind', 'service', '--subject', 'agent:a', '--tenant', 'acme', '--rights', 'all']],
    ['--rights', ['--kind', 'attestor', '--subject', 'service:a', '--rights', 'read']],
  ])('keys new names the invalid or missing option %s', async (option, args) => {
    const { code, err } = await run(['keys', 'new', ...args, '--out', 'x']);
    expect([code, err]).toEqual([2, expect.stringContaining(option)]);
  });

  it('keys new registers one spelling of a person, so that the requester cannot approve under another', async () => {
    const holders: unknown[] = [];
    const createKey = async (_env: unknown, holder: unknown) => {
      holders.push(holder);
      return { keyId: hex('1'), publicKey: hex('2'), file: 'x', registered: true };
    };
    const holder = '--kind service --subject agent:ShopBot --on-behalf-of person:Alice --tenant a,b'.split(' ');
    await run(['keys', 'new', ...holder, '--out', 'x'], { remote: { keys: { createKey } } });
    const rights = ['submit', 'read'];
    const subject = { type: 'agent', id: 'shopbot' };
    expect(holders).toEqual([{ kind: 'service', subject, onBehalfOf: 'alice', tenants: ['a', 'b'], rights }]);
  });

  it('list prints tab-separated columns when piped, and the cursor of the next page', async () => {
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
  const createKey = async () => ({ keyId: hex('1'), publicKey: hex('2'), file: 'k.json', registered: false });
  const runDev = async (
    _env: object,
    _options: object,
    log: (text: string) => void,
    started: (facts: DevFacts, accepted: PlanKey) => void,
  ): Promise<void> => {
    log('starting');
    started(
      { temporal: 't', ui: 'u', gateway: 'http://127.0.0.1:1', inbox: 'i', targets: { shop: 'd' }, keys: '/my keys' },
      { target: 'shop', sourceTool: 'SQLCAS' },
    );
  };
  const options: Options = {
    reviews: {
      submit: async () => ({ changeId: CHANGE, preflight: 'pending', outcome: null }),
      review: async () => reviewed(),
      bundle: async () => ({}) as never,
      answer: async () => accepted(),
      result: async () => ({ state: 'PENDING', status: status() }),
      list: async () => ({ reviews: [], next: null }),
      withdraw: async () => ({ code: 'accepted', message: '' }),
    },
    connected: { ledgerRows: async () => [{ row, hash: ledgerHash(row) }] },
    remote: {
      keys: {
        registerKey: async () => hex('1'),
        listKeys: async () => [],
        revokeKey: async () => false,
        createKey,
      },
      breakers: { listBreakers: async () => [], resetBreakers: async () => [] },
      dev: { runDev },
      setup: { setUp: async () => ({ added: ['CountersignStatus'], present: [] }) },
      targetInit: { targetInit: async () => ['create table marker'] },
      doctor: { doctor: async () => [] },
    },
  };
  const key64 = hex('1');

  it.each<[string[], number, string[]]>([
    [
      ['submit', write('f', SQL), '--target', 't', '--tool', 'T'],
      8,
      ['changeId', 'preflight', 'outcome', 'submittedBefore', 'result'],
    ],
    [['list'], 0, ['reviews', 'next']],
    [['show', CHANGE, '--evidence'], 0, [...Object.keys(status()), 'evidence']],
    [CONFIRM_ALL, 0, ['changeId', 'decision', 'results']],
    [['sign', CHANGE, '--all', '--confirm', '--key', keyFile], 0, ['changeId', 'messages', 'commands', 'argv']],
    [['result', CHANGE], 8, ['state', 'status']],
    [['watch', CHANGE, '--timeout', '1'], 8, ['state', 'status']],
    [['withdraw', CHANGE, '--key', keyFile], 0, ['changeId', 'code', 'message']],
    [
      ['keys', 'new', '--kind', 'approver', '--subject', 'person:a', '--tenant', 'acme', '--out', 'k'],
      0,
      ['keyId', 'publicKey', 'file', 'registered'],
    ],
    [
      ['keys', 'register', key64, ...'--kind approver --subject person:a --tenant acme --operator-key o'.split(' ')],
      0,
      ['keyId', 'registered'],
    ],
    [['keys', 'list'], 0, ['keys']],
    [['keys', 'revoke', key64, '--reason', 'lost', '--operator-key', 'o'], 0, ['keyId', 'revoked']],
    [['ledger', 'show', CHANGE], 0, ['changeId', 'rows', 'chain']],
    [['breaker', 'list'], 0, ['pairs']],
    [
      ['breaker', 'reset', 'acme', 'SQLDryRun', '--reason', 'fixed', '--operator-key', 'op.json'],
      0,
      ['tenant', 'sourceTool', 'reset'],
    ],
    [['dev'], 0, ['temporal', 'ui', 'gateway', 'inbox', 'targets', 'keys']],
    [['setup'], 0, ['added', 'present']],
    [['target', 'init', 'shop'], 0, ['target', 'done']],
    [['doctor'], 0, ['ok', 'checks']],
  ])('%j prints one line with its members on standard output', async (args, code, members) => {
    const ran = await run([...args, '--json'], options);
    expect(ran.err).not.toContain('error');
    expect(ran.code).toBe(code);
    expect(ran.out.endsWith('\n') && ran.out.trimEnd().split('\n')).toHaveLength(1);
    expect(Object.keys(JSON.parse(ran.out))).toEqual(members);
  });

  it('dev names the commands with which to submit a change and to enrol a passkey', async () => {
    const { out, err } = await run(['dev'], options);
    expect(out).toContain('http://127.0.0.1:1');
    expect(out).toMatch(/target shop +d\n/);
    expect(err).toContain('countersign submit FILE --target shop --tool SQLCAS');
    expect(err).toContain(`countersign keys enroll alice --tenant default --operator-key '/my keys/operator.key.json'`);
  });

  it('dev replaces passwords of roles only with --rotate', async () => {
    const asked: unknown[] = [];
    const remote = { dev: { runDev: async (_env: object, given: object) => void asked.push(given) } };
    await run(['dev'], { remote });
    await run(['dev', '--rotate'], { remote });
    expect(asked).toEqual([{ rotate: false }, { rotate: true }]);
  });

  it('ledger show exits 14 for an invalid chain', async () => {
    const broken = { ledgerRows: async () => [{ row: { ...row, actor: 'mallory' }, hash: ledgerHash(row) }] };
    expect((await run(['ledger', 'show', CHANGE], { connected: broken })).code).toBe(14);
  });
});
