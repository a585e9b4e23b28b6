import type { ClaimedNotice } from '../../../storage/notices/notices';
import { deliverNotices } from '../../../workers/notices/deliver-notices';
import type { ChannelSettings } from '../../../workers/notices/settings';
import { CHANGE } from '../../client/fakes';
import { startSmtpServer } from '../../support/smtp-server';

const about = { changeId: CHANGE, tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun', team: 'dba' };
const BODY = JSON.stringify({ event: 'waiting', ...about, rules: [], deadlineAt: null });
const UNREACHABLE: ChannelSettings = { type: 'slack', url: 'http://127.0.0.1:1/hook' };

let smtp: Awaited<ReturnType<typeof startSmtpServer>>;
beforeEach(async () => {
  smtp = await startSmtpServer();
});
afterEach(() => smtp.close());

/** A notice with this id, in its first attempt. */
const claimedNotice = (id: string, more: Partial<ClaimedNotice> = {}): ClaimedNotice => ({
  ...{ id, changeId: CHANGE, event: 'waiting', n: 0, team: 'dba', channel: 'to', recipient: 'b@example.com' },
  ...{ body: BODY, attempts: 1 },
  ...more,
});

/** Delivers notices of one receiver. Returns what the store and the counter were given. */
async function deliver(claimed: readonly ClaimedNotice[], channel: ChannelSettings | null = UNREACHABLE) {
  const notSent: [ids: readonly string[], retryInS: number | null][] = [];
  const counted: [result: string, count: number][] = [];
  const store = {
    dropEnded: async () => {},
    dueQueues: async () => [{ channel: 'to', recipient: 'b@example.com' }],
    claim: async () => claimed,
    sent: async () => {},
    notSent: async (ids: readonly string[], _why: string, retryInS: number | null) =>
      void notSent.push([ids, retryInS]),
  };
  const settings = {
    inbox: 'https://countersign.example/inbox/',
    channels: new Map(channel === null ? [] : [['to', channel]]),
    emailOf: new Map(),
    teams: new Map(),
    digestMs: 0,
    privateAddresses: ['127.0.0.1'],
  };
  const logger = { info: () => {}, warn: () => {} };
  const count = (_channel: string, result: string, n: number): void => void counted.push([result, n]);
  const deps = { store: store as never, settings, logger, count, now: () => new Date() };
  await deliverNotices(deps, new AbortController().signal);
  return { notSent, counted };
}

test('of notices that were sent as one, only those that have been tried ten times are given up', async () => {
  expect(await deliver([10, 1, 3, 1].map((attempts, i) => claimedNotice(`${i}`, { attempts })))).toEqual({
    notSent: [
      [['0'], null],
      [['1', '3'], 30],
      [['2'], 120],
    ],
    counted: [
      ['failed', 1],
      ['retried', 2],
      ['retried', 1],
    ],
  });
});

test('a failure that no retry resolves ends all of them', async () => {
  const { notSent } = await deliver([claimedNotice('0', { attempts: 2 }), claimedNotice('1')], null);
  expect(notSent).toEqual([
    [['0'], null],
    [['1'], null],
  ]);
});

test.each(['no JSON', JSON.stringify({ event: 'of a later version', ...about })])(
  'a notice that this version cannot read is left to a later version until its last attempt, and the others of its receiver are sent: %s',
  async (body) => {
    const unreadable = [claimedNotice('0', { body }), claimedNotice('1', { body, attempts: 10 })];
    const { notSent, counted } = await deliver([...unreadable, claimedNotice('2')], mailTo(smtp.port));
    expect(notSent).toEqual([
      [['0'], 30],
      [['1'], null],
    ]);
    expect(counted).toEqual([
      ['retried', 1],
      ['failed', 1],
      ['sent', 1],
    ]);
    expect(smtp.mails).toHaveLength(1);
  },
);

test('a mail to which a notice was added after a failed attempt has another message id, so that no mail server drops it as a copy', async () => {
  for (const ids of [['1'], ['1', '2'], ['1', '2']])
    await deliver(
      ids.map((id) => claimedNotice(id)),
      mailTo(smtp.port),
    );
  const [first, second, again] = smtp.mails.map(({ data }) => /^Message-ID: (.*)$/im.exec(data)?.[1]);
  expect(first).toBe('<notice-1@example.com>');
  expect(second).not.toBe(first);
  expect(again).toBe(second);
});

function mailTo(port: number): ChannelSettings {
  return { type: 'email', host: '127.0.0.1', port, tls: 'none', from: 'a@example.com', login: null };
}

test('a pass ends soon if receivers are slow, so that notices of new reviews are planned', async () => {
  let time = Date.parse('2026-01-01T00:00:00.000Z');
  const begun: string[] = [];
  const store = {
    dropEnded: async () => {},
    dueQueues: async () => Array.from({ length: 20 }, (_, i) => ({ channel: 'to', recipient: `${i}` })),
    claim: async ({ recipient }: { readonly recipient: string }) => {
      begun.push(recipient);
      time += 3_000;
      return [];
    },
  };
  const settings = { channels: new Map(), digestMs: 0 };
  const logger = { info: () => {}, warn: () => {} };
  const now = (): Date => new Date(time);
  await deliverNotices(
    { store: store as never, settings: settings as never, logger, count: () => {}, now },
    new AbortController().signal,
  );
  expect(begun).toEqual(['0', '1', '2', '3']);
});
