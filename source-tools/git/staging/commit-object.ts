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
    `Countersign-Change: ${changeId}`,
    '',
  ].join('\n');
  const bytes = Buffer.from(body, 'utf8');
  const hash = createHash(base.commit.length === 64 ? 'sha256' : 'sha1');
  return { id: hash.update(`commit ${bytes.length}\0`).update(bytes).digest('hex'), body };
}

/** Name and email address in the format of a commit object. The configuration rejects characters that would break it. */
export function identity({ name, email }: { readonly name: string; readonly email: string }): string {
  return `${name} <${email}>`;
}
