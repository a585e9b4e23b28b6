/**
 * The commit object of a change. Its bytes are derived from the staging record, the change id and the time of the intent, so
 * every attempt makes the same object, and its id is known in advance.
 */
import { createHash } from 'node:crypto';
import type { GitBase } from './git-record';

export interface CommitObject {
  readonly id: string;
  readonly body: string;
}

const MAX_MESSAGE = 4000;
export const TRAILER = 'Countersign-Change';

export function commitObject(base: GitBase, changeId: string, intentAt: string): CommitObject {
  const who = `${base.author} ${Math.floor(Date.parse(intentAt) / 1000)} +0000`;
  const body = [
    `tree ${base.treeAfter}`,
    `parent ${base.commit}`,
    `author ${who}`,
    `committer ${who}`,
    '',
    base.message,
    '',
    `${TRAILER}: ${changeId}`,
    '',
  ].join('\n');
  const bytes = Buffer.from(body, 'utf8');
  const hash = createHash(base.commit.length === 64 ? 'sha256' : 'sha1');
  return { id: hash.update(`commit ${bytes.length}\0`).update(bytes).digest('hex'), body };
}

export type Message = { readonly ok: true; readonly message: string } | { readonly ok: false; readonly why: string };

/** The commit message from `metadata.message`, or a default. A message with a line that looks like our trailer is refused. */
export function messageOf(given: unknown, changeId: string): Message {
  if (given === undefined || given === null) return { ok: true, message: `Change ${changeId.slice(0, 12)}` };
  if (typeof given !== 'string' || given.trim() === '' || given.length > MAX_MESSAGE)
    return { ok: false, why: `metadata.message: expected a string of 1 to ${MAX_MESSAGE} characters` };
  for (let i = 0; i < given.length; i++) {
    const code = given.charCodeAt(i);
    if ((code < 0x20 && code !== 0x0a) || code === 0x7f)
      return { ok: false, why: 'metadata.message: control characters other than line feeds are not allowed' };
  }
  if (/^countersign-/im.test(given))
    return { ok: false, why: 'metadata.message: lines that start with "Countersign-" are reserved' };
  return { ok: true, message: given.trim() };
}

/** Name and email address in the format of a commit object. The configuration rejects characters that would break it. */
export function identity({ name, email }: { readonly name: string; readonly email: string }): string {
  return `${name} <${email}>`;
}
