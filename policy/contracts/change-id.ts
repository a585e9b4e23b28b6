import type { Submission } from './diff';
import { typedHash, type Sha256 } from './hash';

/** Hash of what is reviewed: tenant, target, source tool, bytes and metadata. */
export function inputSha(s: Pick<Submission, 'tenant' | 'target' | 'sourceTool' | 'diffSha' | 'metadata'>): Sha256 {
  const { tenant, target, sourceTool, diffSha, metadata } = s;
  return typedHash('input', { tenant, target, sourceTool, diffSha, metadata });
}

/** The id of the review and of its workflow. Submitting the same change again joins the same review, unless `requestKey` differs. */
export function changeId(s: Submission): Sha256 {
  return typedHash('change', { tenant: s.tenant, target: s.target, inputSha: inputSha(s), requestKey: s.requestKey });
}

/**
 * Derives the trace id of a change from its id alone, so that spans of client, workers and committer join one trace without any
 * trace context in a workflow history, and a worker that resumes the review years later uses the same trace. The ids are
 * 16 and 8 bytes in hex (W3C Trace Context). Null if `changeId` is not a valid change id.
 */
export function traceOfChange(changeId: string): { readonly traceId: string; readonly spanId: string } | null {
  if (!/^[0-9a-f]{64}$/.test(changeId)) return null;
  const traceId = changeId.slice(0, 32);
  const spanId = changeId.slice(32, 48);
  // W3C Trace Context forbids ids of only zeros. A real SHA-256 never yields one.
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? null : { traceId, spanId };
}
