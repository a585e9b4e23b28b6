/**
 * The commit that a change becomes. Its bytes follow from the staging record, the change id and the time of the intent, so
 * that every attempt makes the same object, and its id is known without looking for it.
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

/** The words of `metadata.message`; a line of ours where there are none. A line that looks like our trailer is refused. */
export function messageOf(said: unknown, changeId: string): Message {
  if (said === undefined || said === null) return { ok: true, message: `Change ${changeId.slice(0, 12)}` };
  if (typeof said !== 'string' || said.trim() === '' || said.length > MAX_MESSAGE)
    return { ok: false, why: `metadata.message: expected text of 1 to ${MAX_MESSAGE} characters` };
  for (let i = 0; i < said.length; i++) {
    const code = said.charCodeAt(i);
    if ((code < 0x20 && code !== 0x0a) || code === 0x7f)
      return { ok: false, why: 'metadata.message: expected no control characters but line feeds' };
  }
  if (/^countersign-/im.test(said))
    return { ok: false, why: 'metadata.message: expected no line that begins with "Countersign-", which is ours' };
  return { ok: true, message: said.trim() };
}

/** Name and address as a commit object has them; they cannot hold what would end them. */
export function identity({ name, email }: { readonly name: string; readonly email: string }): string {
  return `${name} <${email}>`;
}
