import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatEnvFile } from '../../workers/env-file';

export const NAMES = ['review', 'judge', 'commit', 'gateway'];
/** Files of the directory that each process needs, besides its own environment file. */
export const FILES: Readonly<Record<string, readonly string[]>> = {
  review: ['keys/review.key.json', 'trust.json', 'extension.js'],
  judge: ['keys/judge.key.json', 'trust.json', 'client.pem'],
  commit: ['keys/commit.key.json', 'trust.json', 'targets.json'],
  gateway: ['trust.json'],
};

export const HEALTH: Readonly<Record<string, number>> = { review: 9081, judge: 9082, commit: 9083, gateway: 9077 };

const folders: string[] = [];
/** Removes what `initDirectory` made. */
export function removeInitDirectories(): void {
  folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
}

/** A directory as `init` makes it, with a git target and an extension of the review worker. */
export function initDirectory(name = 'etc'): string {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-manifests-'));
  folders.push(scratch);
  const dir = join(scratch, name);
  mkdirSync(join(dir, 'keys'), { recursive: true });
  const at = (file: string): string => join(dir, file);
  for (const process of NAMES) {
    const files = FILES[process] ?? [];
    const variables: Record<string, string> = {
      COUNTERSIGN_DATABASE_URL: `postgres://cs_${process}:secret@db/countersign`,
      COUNTERSIGN_TRUST_FILE: at('trust.json'),
      ...(process === 'gateway'
        ? { COUNTERSIGN_GATEWAY_PORT: '9077' }
        : { COUNTERSIGN_KEY_FILE: at(files[0] ?? ''), COUNTERSIGN_HEALTH_ADDRESS: `127.0.0.1:${HEALTH[process]}` }),
      ...(process === 'commit' ? { COUNTERSIGN_TARGETS_FILE: at('targets.json') } : {}),
      ...(process === 'review' ? { COUNTERSIGN_EXTENSIONS: at('extension.js') } : {}),
      ...(process === 'judge' ? { TEMPORAL_TLS_CLIENT_CERT_PATH: at('client.pem') } : {}),
    };
    writeFileSync(at(`${process}.env`), formatEnvFile(variables));
    for (const file of files) writeFileSync(at(file), '{}');
  }
  const git = { repository: '/srv/site.git', ref: 'refs/heads/main' };
  writeFileSync(at('targets.json'), JSON.stringify({ targets: [{ name: 'site', development: false, git }] }));
  return dir;
}
