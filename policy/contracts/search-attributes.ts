/**
 * Search attributes of a review: the client sets them at the start, the workflow upserts them, `setup` registers them. They
 * are stored in the clear even with a payload codec, so they contain nothing of a diff or a reason (P12). Keys and pairs have
 * the shapes of Temporal's `SearchAttributeKey` and `SearchAttributePair`.
 */
import type { ReviewState } from './outcome';
import type { ReviewStatus } from './status';

export const CountersignStatus = { name: 'CountersignStatus', type: 'KEYWORD' } as const;
export const CountersignSourceTool = { name: 'CountersignSourceTool', type: 'KEYWORD' } as const;
export const CountersignTenant = { name: 'CountersignTenant', type: 'KEYWORD' } as const;
export const CountersignTarget = { name: 'CountersignTarget', type: 'KEYWORD' } as const;
/** The person behind the service key, as verified by the first activity; absent while unknown. */
export const CountersignRequester = { name: 'CountersignRequester', type: 'KEYWORD' } as const;
/** Violations that still wait for a person. */
export const CountersignPending = { name: 'CountersignPending', type: 'INT' } as const;
/** The worst finding so far: BLOCK, WARN or ALLOW; `always-approve` where nothing else validates (C10). */
export const CountersignSeverity = { name: 'CountersignSeverity', type: 'KEYWORD' } as const;

/** Name → type in Temporal's spelling, as `registerSearchAttributes` and `temporal … --search-attribute` take it. */
export const SEARCH_ATTRIBUTES = {
  CountersignStatus: 'Keyword',
  CountersignSourceTool: 'Keyword',
  CountersignTenant: 'Keyword',
  CountersignTarget: 'Keyword',
  CountersignRequester: 'Keyword',
  CountersignPending: 'Int',
  CountersignSeverity: 'Keyword',
} as const;

type SearchAttribute<Text = string> =
  | { readonly key: { readonly name: string; readonly type: 'KEYWORD' }; readonly value: Text }
  | { readonly key: { readonly name: string; readonly type: 'INT' }; readonly value: number };

/** What a client can say when it starts a review: facts of the submission, no claim about the requester. */
export function startAttributes(submission: {
  readonly tenant: string;
  readonly target: string;
  readonly sourceTool: string;
}): SearchAttribute[] {
  return [
    { key: CountersignStatus, value: 'RUNNING' satisfies ReviewState },
    { key: CountersignSourceTool, value: submission.sourceTool },
    { key: CountersignTenant, value: submission.tenant },
    { key: CountersignTarget, value: submission.target },
    { key: CountersignPending, value: 0 },
  ];
}

/** All of them, as the workflow knows them now; upserted when a review begins to wait and when it ends. */
export function searchAttributesOf(status: ReviewStatus): SearchAttribute<string | null>[] {
  return [
    { key: CountersignStatus, value: status.state },
    { key: CountersignSourceTool, value: status.sourceTool },
    { key: CountersignTenant, value: status.tenant },
    { key: CountersignTarget, value: status.target },
    { key: CountersignRequester, value: status.requester },
    { key: CountersignPending, value: status.violations.filter((v) => v.resolution === 'pending').length },
    { key: CountersignSeverity, value: severityOf(status) },
  ];
}

function severityOf(status: ReviewStatus): string {
  for (const worst of ['BLOCK', 'WARN'] as const) if (status.findings.some((f) => f.status === worst)) return worst;
  return status.findings.some((f) => f.validatorId === 'always-approve') ? 'always-approve' : 'ALLOW';
}
