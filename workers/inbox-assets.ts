import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { InboxAsset, InboxAssets } from '../gateway/inbox/deps';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};
const INDEX = 'index.html';

/** Reads the built page once. Null if it was not built. Files of other types are not served. */
export function readInboxAssets(folder: string): InboxAssets | null {
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
