/** What the state of a resource says about a change of it. */
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import { stagingSha } from '../../../policy/contracts/staging-record';
import type { CommitContext, SettleContext } from '../../../policy/contracts/target-effects';
import type { HttpBase } from './http-record';
import { comparedSha, type ReadResource, type Resource } from './resource';

/** The effect as the receipt states it: URL, ETags and digests, no content. */
export function effectOf(ctx: CommitContext | SettleContext, base: HttpBase, etagAfter: string | null): JsonObject {
  const { method, url, etag, afterSha } = base;
  return {
    ...(ctx.approved === null ? {} : { stagingSha: stagingSha(ctx.approved) }),
    method,
    url,
    etagBefore: etag,
    etagAfter,
    afterSha,
  };
}

export function etagOf(found: ReadResource): string | null {
  return found.ok ? found.resource.etag : null;
}

/** The resource if it is in the state that the change was approved for; otherwise null. */
export function matchBefore(base: HttpBase, found: ReadResource): Resource | null {
  return etagOf(found) === base.etag ? matchContent(base, found, base.beforeSha) : null;
}

/** The resource if it is in the approved state after the change; otherwise null. */
export function matchAfter(base: HttpBase, found: ReadResource): Resource | null {
  return matchContent(base, found, base.afterSha);
}

/** Whether the resource has the content from before the change again. Its ETag can be another one. */
export function isRestored(base: HttpBase, found: ReadResource): boolean {
  return matchContent(base, found, base.beforeSha) !== null;
}

function matchContent(base: HttpBase, found: ReadResource, sha: string): Resource | null {
  return found.ok && comparedSha(found.resource.document, base.volatile) === sha ? found.resource : null;
}

export function describeMismatch(found: ReadResource): string {
  return found.ok ? 'the resource is in neither the state before nor the approved state after' : found.explanation;
}

/** For a resource that is not in the approved state. */
export function describeState(base: HttpBase, found: ReadResource): string {
  return matchBefore(base, found) === null ? describeMismatch(found) : 'the resource is in the state before';
}
