/**
 * The commit object of a change. Its bytes are derived from the staging record, the change id and the time of the intent, so
 * every attempt makes the same object, and its id is known in advance.
 */
import { createHash } from 'node:crypto';
import type { JsonValue } from '../../../policy/contracts/canonical-json';
import { commitMessageProblem } from '../commit-message';
import type { GitBase } from './git-record';

export interface CommitObject {
  readonly id: string;
  readonly body: string;
}

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

/** The commit message from `metadata.message`, or a default. The opening of the review has refused others (commit-message.ts). */
export function messageOf(given: JsonValue | undefined, changeId: string): Message {
  if (given === undefined || given === null) return { ok: true, message: `Change ${changeId.slice(0, 12)}` };
  const problem = commitMessageProblem(given);
  return problem === null
    ? { ok: true, message: String(given).trim() }
    : { ok: false, why: `metadata.message: ${problem}` };
}

/** Name and email address in the format of a commit object. The configuration rejects characters that would break it. */
export function identity({ name, email }: { readonly name: string; readonly email: string }): string {
  return `${name} <${email}>`;
}
