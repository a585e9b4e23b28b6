import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { shellQuote } from '../../shell-quote';
import { writePrivate } from '../../private-files';
import { composeFile } from './compose';
import { deployedProcesses } from './processes';
import { kustomizeBase } from './kubernetes';
import { systemdUnits } from './systemd';

export type ManifestKind = 'compose' | 'systemd' | 'kubernetes';

export interface WrittenManifests {
  readonly files: readonly { readonly path: string; readonly changed: boolean }[];
  /** The command that starts the processes with them. */
  readonly start: string;
}

/** Writes manifests that run the processes of a directory of `init`. */
export function writeManifests(kind: ManifestKind, dir: string, version: string): WrittenManifests {
  const processes = deployedProcesses(dir);
  const { uid, gid, username } = userInfo();
  const write = (path: string, text: string) => ({ path, changed: writePrivate(path, text) });
  switch (kind) {
    case 'compose': {
      const path = join(dir, 'compose.yaml');
      const text = composeFile({ processes, version, uid, gid });
      return { files: [write(path, text)], start: `docker compose -f ${shellQuote(path)} up -d` };
    }
    case 'systemd': {
      const folder = join(dir, 'systemd');
      const packageDir = resolve(__dirname, '../../../..');
      const units = systemdUnits({ processes, dir, node: process.execPath, packageDir, user: username });
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return {
        files: units.map(({ name, text }) => write(join(folder, name), text)),
        start: `sudo install -m 644 ${folder}/*.service /etc/systemd/system/ && sudo systemctl enable --now ${units.map(({ name }) => name).join(' ')}`,
      };
    }
    case 'kubernetes': {
      const files = kustomizeBase({ processes, dir, version });
      mkdirSync(join(dir, 'kubernetes'), { recursive: true, mode: 0o700 });
      return {
        files: files.map(({ path, text }) => write(join(dir, path), text)),
        start: `kubectl apply -k ${shellQuote(dir)}`,
      };
    }
    default:
      return kind satisfies never;
  }
}
