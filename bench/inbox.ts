/**
 * `npm run bench:inbox -- --reviews 10000 --json`: the lists of the inbox over HTTP with a real PostgreSQL that has this many open
 * reviews. Progress goes to standard error; with --json the last line of standard output is one object.
 */
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { query } from '../dev/query';
import { readOptions, runProgram, say, wholeNumber } from '../dev/run-program';
import { withTemporaryPostgres } from '../dev/temporary';
import { createInbox } from '../gateway/inbox/app';
import type { InboxDeps } from '../gateway/inbox/deps';
import { createGatewayMetrics } from '../gateway/metrics';
import { sha256HexOfText } from '../policy/contracts/hash';
import type { RegisteredPasskey } from '../policy/evidence/key-registry';
import { openDatabase, type Database } from '../storage/database/database';
import { migrate } from '../storage/database/migrate';
import { createInboxNumbers } from '../storage/inbox/numbers';
import { readPrecedents } from '../storage/inbox/precedents';
import { createInboxLists } from '../storage/inbox/review-list';
import { createSessionStore } from '../storage/inbox/sessions';
import { createLedger } from '../storage/ledger/ledger';
import { fillReviews, GROUPS, PLANS, TENANTS } from './inbox-reviews';
import { machine, spread, type Spread } from './measure';

const DATABASE = 'countersign';
const PASSWORD = 'only-for-measurements';
const ROLES = ['cs_review', 'cs_commit', 'cs_gateway'] as const;
const ORIGIN = 'http://localhost:8077';
const [TOKEN, NOBODY] = ['a'.repeat(43), 'b'.repeat(43)];
const REQUESTS = 100;

const FILTERS: Readonly<Record<string, string>> = {
  none: '',
  tool: '&tool=GitPatch',
  rule: '&rule=guardian.secrets_in_text',
  agent: '&agent=agent-3',
  tenant: '&tenant=beta',
  age: '&minAge=86400',
  outcome: '&outcome=INTERVENTION_REQUIRED',
  words: '&search=invoices%20row',
  id: '&search=00a',
  'no match': '&search=nothing%20matches',
};
const never = (): never => {
  throw new Error('The lists do not use this');
};

const passkey = (person: string): RegisteredPasskey => ({
  keyId: person,
  passkey: { credentialId: 'AA', publicKey: '', rpId: 'localhost', origins: [ORIGIN] },
  enrollmentKeyId: '',
  kind: 'approver',
  subject: { type: 'person', id: person },
  onBehalfOf: null,
  tenants: [...TENANTS],
  rights: ['read', 'answer'],
  demo: true,
  addedAt: '',
  operatorKeyId: '',
  revokedAt: null,
});

/** The inbox with a session of alice, who is in one group of three, and one of a person in no group. */
async function startInbox(db: Database): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const keys = ['alice', 'nobody'].map(passkey);
  const agents = Array.from({ length: 12 }, (_, i) => ({ ...passkey(`agent-${i}`), revokedAt: 'never active' }));
  const sessions = createSessionStore(db);
  await sessions.create(sha256HexOfText(TOKEN), { keyId: 'alice', person: 'alice' });
  await sessions.create(sha256HexOfText(NOBODY), { keyId: 'nobody', person: 'nobody' });
  const ledger = createLedger(db);
  const tenantOf = async (changeId: string) => (await ledger.review(changeId))?.tenant ?? null;
  const inbox: InboxDeps = {
    assets: null,
    origin: ORIGIN,
    trust: { operators: [], committers: [] },
    temporalUi: null,
    keys: async () => ({
      find: (id) => keys.find(({ keyId }) => keyId === id),
      keys: [...keys, ...agents],
      ignored: [],
    }),
    sessions,
    challenges: { add: never, take: never },
    enrollments: { enrollmentOf: never, completeEnrollment: never },
    lists: createInboxLists(db),
    numbers: createInboxNumbers(db),
    precedents: (of) => readPrecedents(db, of),
    groupsOf: async () => new Map(GROUPS.map((group) => [group, group === 'dba' ? ['alice'] : ['bob']])),
    recordDifferences: never,
    changes: { subscribe: never },
    registryVersion: never,
    tenantOf,
  };
  const reviews = { bundle: never, tenantOf: async (changeId: string) => (await tenantOf(changeId)) ?? never() };
  const relay = { send: never, take: never, refused: never };
  const gateway = {
    reviews,
    probes: { database: never, temporal: never },
    now: Date.now,
    log: { error: never },
    stopping: new AbortController().signal,
  };
  const app = createInbox(gateway, inbox, { relay, metrics: createGatewayMetrics() });
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));
  return { url: `http://127.0.0.1:${port}/api/`, close };
}

/** Milliseconds from request to the last byte, one request at a time. */
async function measure(url: string, token = TOKEN): Promise<Spread> {
  const samples: number[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const began = performance.now();
    const response = await fetch(url, { headers: { cookie: `__Host-countersign=${token}` } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${url}: HTTP ${response.status} ${text}`);
    samples.push(performance.now() - began);
  }
  return spread(samples);
}

async function measureAll(url: string): Promise<Record<string, Spread>> {
  const results: Record<string, Spread> = {};
  const record = async (name: string, path: string, token?: string): Promise<void> => {
    const { p50, p95, p99 } = (results[name] = await measure(url + path, token));
    say(`${name.padEnd(24)} p50 ${p50}, p95 ${p95}, p99 ${p99} ms`);
  };
  for (const tab of ['turn', 'waiting', 'all'])
    for (const [name, filter] of Object.entries(FILTERS))
      await record(`${tab}, ${name}`, `reviews?tab=${tab}${filter}`);
  await record('turn, in no group', 'reviews?tab=turn', NOBODY);
  const first = await fetch(`${url}reviews?tab=turn`, { headers: { cookie: `__Host-countersign=${TOKEN}` } });
  const { items, next } = (await first.json()) as {
    readonly items: { changeId: string }[];
    readonly next: string | null;
  };
  if (next !== null) await record('turn, second page', `reviews?tab=turn&cursor=${encodeURIComponent(next)}`);
  await record('precedents', `reviews/${items[0]?.changeId}/precedents?rule=guardian.sql_affected_rows`);
  return results;
}

async function main(reviews: number, json: boolean): Promise<void> {
  await withTemporaryPostgres('bench', { say, fast: true }, async (postgres) => {
    const open: Database[] = [];
    await postgres.createDatabase(DATABASE);
    const adminUrl = postgres.superuserUrl(DATABASE);
    await migrate(adminUrl, { roles: Object.fromEntries(ROLES.map((role) => [role, PASSWORD])) });
    const connect = (role: (typeof ROLES)[number]): Database => {
      const url = `postgresql://${role}:${PASSWORD}@127.0.0.1:${postgres.port}/${DATABASE}`;
      const db = openDatabase({ url, applicationName: 'bench', max: 16 });
      open.push(db);
      return db;
    };
    say(`Opening ${reviews} reviews with ${PLANS.length} plans and ${GROUPS.length} groups`);
    await fillReviews(
      { review: createLedger(connect('cs_review')), commit: createLedger(connect('cs_commit')) },
      reviews,
    );
    await query(adminUrl, 'analyze');
    const inbox = await startInbox(connect('cs_gateway'));
    const results = await measureAll(inbox.url);
    await inbox.close();
    const lists = Object.entries(results).filter(([name]) => name !== 'precedents');
    const worst = Math.max(...lists.map(([, { p95 }]) => p95));
    say(`Highest p95 of a first page: ${worst} ms (aim 300). ${machine()}, PostgreSQL ${postgres.version}`);
    if (json) process.stdout.write(`${JSON.stringify({ reviews, machine: machine(), worst, results })}\n`);
    await Promise.all(open.map((db) => db.close()));
  });
}

runProgram(() => {
  const { reviews, json } = readOptions({ reviews: '10000' });
  return main(wholeNumber('--reviews', reviews), json);
});
