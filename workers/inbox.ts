import { join, extname } from 'node:path';
import type { z } from 'zod';
import { recordDifferences } from '../activities/review/refused-entry';
import type { InboxDeps, InboxAsset, InboxAssets } from '../gateway/inbox/deps';
import { CountersignFailure } from '../policy/contracts/failure';
import { createChallengeStore } from '../storage/inbox/challenges';
import { ledgerChanges } from '../storage/inbox/ledger-changes';
import { createInboxNumbers } from '../storage/inbox/numbers';
import { readPrecedents } from '../storage/inbox/precedents';
import { registryVersion } from '../storage/inbox/registry-version';
import { createInboxLists } from '../storage/inbox/review-list';
import { createEnrollments } from '../storage/keys/enrollments';
import { createSessionStore } from '../storage/inbox/sessions';
import type { LedgerNotifications } from '../storage/ledger/notifications';
import type { GatewayEnv, Trust } from './config';
import type { Resources } from './resources';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** Where `scripts/build-inbox.mjs` writes the page, next to the compiled gateway. */
const ASSETS = join(__dirname, '..', 'gateway', 'inbox', 'assets');

interface InboxOptions {
  readonly env: z.infer<typeof GatewayEnv>;
  readonly namespace: string;
  readonly trust: Trust;
  readonly resources: Pick<Resources, 'db' | 'keys' | 'ledger' | 'plans' | 'now'>;
  readonly notifications: Pick<LedgerNotifications, 'onEach' | 'connection'>;
}

/** What the inbox needs, from the database of the gateway and its environment. */
export function inboxDeps({ env, namespace, trust, resources, notifications }: InboxOptions): InboxDeps {
  const { db, keys, ledger, plans } = resources;
  const ui = env.COUNTERSIGN_TEMPORAL_UI_URL;
  return {
    assets: readInboxAssets(ASSETS),
    origin: env.COUNTERSIGN_PUBLIC_URL ?? `http://localhost:${env.COUNTERSIGN_GATEWAY_PORT}`,
    trust,
    temporalUi: ui === undefined ? null : `${ui.replace(/\/$/, '')}/namespaces/${namespace}/workflows`,
    keys: () => keys.snapshot(),
    sessions: createSessionStore(db),
    challenges: createChallengeStore(db),
    enrollments: createEnrollments({ db, trustedOperators: trust.operators }),
    lists: createInboxLists(db),
    numbers: createInboxNumbers(db),
    precedents: (of) => readPrecedents(db, of),
    tenantOf: async (changeId) => (await ledger.review(changeId))?.tenant ?? null,
    groupsOf: async (planHash) => {
      try {
        const { plan } = await plans.byHash(planHash, 'ignored');
        return new Map(Object.entries(plan.groups).map(([group, { members }]) => [group, members]));
      } catch (error) {
        // No trusted revision lists the plan, or it does not compile here: its answers would be refused.
        if (error instanceof CountersignFailure && error.nonRetryable) return null;
        throw error;
      }
    },
    recordDifferences: (changeId, seen) => recordDifferences(resources, changeId, seen),
    changes: ledgerChanges({ notifications, db }),
    registryVersion: () => registryVersion(db),
  };
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};
const INDEX = 'index.html';

/** Reads the built page once. Null if it was not built. Files of other types are not served. */
function readInboxAssets(folder: string): InboxAssets | null {
  if (!existsSync(join(folder, INDEX))) return null;
  const files = new Map<string, InboxAsset>();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isFile() && entry.name !== INDEX && TYPES[extname(entry.name)] !== undefined)
      files.set(entry.name, readAsset(folder, entry.name));
  }
  return { index: readAsset(folder, INDEX), files };
}

function readAsset(folder: string, name: string): InboxAsset {
  const bytes = readFileSync(join(folder, name));
  return { bytes, gzipped: gzipSync(bytes), type: TYPES[extname(name)] ?? 'application/octet-stream' };
}
