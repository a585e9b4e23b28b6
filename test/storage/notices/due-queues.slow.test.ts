import type { Database } from '../../../storage/database/database';
import { noticeStore } from '../../../storage/notices/notices';
import { deliverNotices } from '../../../workers/notices/deliver-notices';
import { useFreshDatabase } from '../../support/postgres';
import { startSmtpServer } from '../../support/smtp-server';

const database = useFreshDatabase();
const DIGEST_MS = 300_000;
const HOUR_MS = 3_600_000;
const BODY = JSON.stringify({
  ...{ event: 'waiting', changeId: 'a'.repeat(64), tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun' },
  ...{ team: 'dba', rules: [], deadlineAt: null },
});

let db: Database;
beforeEach(() => {
  db = database.open('admin');
});

/** A notice to this channel that has been due for so many seconds; with `sent`, one that was sent so many seconds ago. */
async function notice(
  channel: string,
  recipient: string,
  { due, sent }: { due?: number; sent?: number },
): Promise<void> {
  await db.query(
    `insert into notices (change_id, event, n, team, channel, recipient, body, state, next_at, sent_at)
     values ($1, 'waiting', $2, 'dba', $3, $4, $5, $6, now() - $7 * interval '1 second', now() - $8::int * interval '1 second')`,
    [
      'a'.repeat(64),
      sent === undefined ? 0 : 1,
      channel,
      recipient,
      BODY,
      ...(sent === undefined ? ['due', due, null] : ['sent', 0, sent]),
    ],
  );
}

/** Sends what is due, by a worker whose clock is off. */
async function deliver(channels: ReadonlyMap<string, object>, clockOffMs = 0): Promise<void> {
  const settings = {
    inbox: 'https://countersign.example/inbox/',
    channels,
    emailOf: new Map(),
    teams: new Map(),
    digestMs: DIGEST_MS,
    privateAddresses: ['127.0.0.1'],
  };
  const logger = { info: () => {}, warn: () => {} };
  const now = () => new Date(Date.now() + clockOffMs);
  const deps = { store: noticeStore(db), settings: settings as never, logger, count: () => {}, now };
  await deliverNotices(deps, new AbortController().signal);
}

/** Tries to send, to channels that accept nothing, by a worker whose clock is off. Returns the receivers that were tried. */
async function tried(clockOffMs = 0): Promise<readonly string[]> {
  const url = 'http://127.0.0.1:1/hook';
  const chat = { type: 'slack', url };
  const events = { type: 'webhook', url, secret: Buffer.alloc(16) };
  await deliver(
    new Map<string, object>([
      ['chat', chat],
      ['events', events],
    ]),
    clockOffMs,
  );
  const { rows } = await db.query<{ to: string }>(
    `select channel || ' ' || recipient as to from notices where attempts > 0 order by channel, recipient`,
  );
  return rows.map(({ to }) => to);
}

test('more than a hundred receivers that were sent something just now keep no other receiver waiting', async () => {
  for (let i = 0; i < 101; i++) {
    await notice('chat', `${i}`, { due: 100 });
    await notice('chat', `${i}`, { sent: 10 });
  }
  await notice('chat', 'late', { due: 1 });
  await notice('events', '', { due: 1 });
  await notice('events', '', { sent: 10 });
  expect(await tried()).toEqual(['chat late', 'events ']);
});

test('the first receiver of each channel comes before the others, so that one channel does not keep the others waiting', async () => {
  for (const i of [1, 2, 3]) await notice('mail', `${i}@example.com`, { due: 100 - i });
  await notice('chat', '', { due: 2 });
  await notice('events', '', { due: 1 });
  const queues = await noticeStore(db).dueQueues(4, { apartMs: 0, except: [] });
  expect(queues.map(({ channel, recipient }) => `${channel} ${recipient}`)).toEqual([
    ...['mail 1@example.com', 'chat ', 'events ', 'mail 2@example.com'],
  ]);
});

test.each([-HOUR_MS, HOUR_MS])(
  'the time between two messages is that of the database, if the clock of the worker is %i ms off',
  async (clockOffMs) => {
    await notice('chat', 'soon', { due: 1 });
    await notice('chat', 'soon', { sent: 290 });
    await notice('chat', 'ready', { due: 1 });
    await notice('chat', 'ready', { sent: 310 });
    expect(await tried(clockOffMs)).toEqual(['chat ready']);
  },
);

test('what a mail server replies is kept with the notice, also a text that PostgreSQL cannot store', async () => {
  const smtp = await startSmtpServer();
  smtp.reply = (command) => (command === 'RCPT' ? '550 no\0body' : null);
  const mail = { type: 'email', host: '127.0.0.1', port: smtp.port, tls: 'none', from: 'a@example.com', login: null };
  await notice('mail', 'b@example.com', { due: 1 });
  await deliver(new Map([['mail', mail]]));
  await smtp.close();
  const { rows } = await db.query<{ state: string; problem: string }>('select state, problem from notices');
  expect(rows).toEqual([{ state: 'failed', problem: expect.stringContaining('550 no\u2400body') as string }]);
});
