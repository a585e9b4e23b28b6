import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { newKeyPair } from '../signing/keys';
import { readKeyFile, writeKeyFile, type KeyLabel, type LoadedKey } from '../signing/key-file';

/** The people of the development set-up. */
const DEMO_PEOPLE = { agentOwner: 'dana', approvers: ['alice', 'bob'] } as const;

const LABELS = {
  operator: { kind: 'operator', subject: { type: 'person', id: 'platform' } },
  'attestor-review': { kind: 'attestor', subject: { type: 'service', id: 'review-worker' } },
  'attestor-judge': { kind: 'attestor', subject: { type: 'service', id: 'judge-worker' } },
  committer: { kind: 'committer', subject: { type: 'service', id: 'committer' } },
  agent: { kind: 'service', subject: { type: 'agent', id: 'shop-agent' }, onBehalfOf: DEMO_PEOPLE.agentOwner },
  alice: { kind: 'approver', subject: { type: 'person', id: 'alice' } },
  bob: { kind: 'approver', subject: { type: 'person', id: 'bob' } },
} as const satisfies Record<string, Omit<KeyLabel, 'demo' | 'onBehalfOf'> & Partial<Pick<KeyLabel, 'onBehalfOf'>>>;

export type DemoKeyName = keyof typeof LABELS;
export type DemoKeys = Readonly<Record<DemoKeyName, { readonly path: string; readonly key: LoadedKey }>>;

/** Creates missing keys and reads the others. All are labelled `demo`: a committer accepts them only for development targets. */
export function demoKeys(dir: string, now: Date): DemoKeys {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const names = Object.keys(LABELS) as DemoKeyName[];
  const entries = names.map((name) => {
    const path = join(dir, `${name}.key.json`);
    const label: KeyLabel = { onBehalfOf: null, ...LABELS[name], demo: true };
    if (!existsSync(path)) writeKeyFile({ path, key: newKeyPair(), label, createdAt: now.toISOString() });
    return [name, { path, key: readKeyFile(path) }] as const;
  });
  return Object.fromEntries(entries) as DemoKeys;
}
