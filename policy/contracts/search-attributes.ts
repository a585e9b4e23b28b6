/**
 * Search attributes of a review: the client sets them at the start, the workflow upserts them, `setup` registers them. Temporal
 * stores them unencrypted even with a payload codec, so they must not contain rows, reasons or the text of a diff; the title names only
 * what the change touches. Keys and pairs have the shapes of Temporal's `SearchAttributeKey` and `SearchAttributePair`.
 */
import type { ReviewState } from './outcome';
import type { ReviewStatus } from './status';

export const CountersignStatus = { name: 'CountersignStatus', type: 'KEYWORD' } as const;
export const CountersignSourceTool = { name: 'CountersignSourceTool', type: 'KEYWORD' } as const;
export const CountersignTenant = { name: 'CountersignTenant', type: 'KEYWORD' } as const;
export const CountersignTarget = { name: 'CountersignTarget', type: 'KEYWORD' } as const;
/** The person that the service key acts for, verified by the first activity; absent while unknown. */
export const CountersignRequester = { name: 'CountersignRequester', type: 'KEYWORD' } as const;
/** What the change does in one line: names of tables or files, the path of a URL, and counts. Absent until the first activity is done. */
export const CountersignTitle = { name: 'CountersignTitle', type: 'KEYWORD' } as const;
/** Number of violations that wait for a person. */
export const CountersignPending = { name: 'CountersignPending', type: 'INT' } as const;
/** The worst finding so far: BLOCK, WARN or ALLOW; `always-approve` if the plan has no other validator. */
export const CountersignSeverity = { name: 'CountersignSeverity', type: 'KEYWORD' } as const;

/** Name → type, in the spelling that `registerSearchAttributes` and `temporal … --search-attribute` expect. */
export const SEARCH_ATTRIBUTES = {
  CountersignStatus: 'Keyword',
  CountersignSourceTool: 'Keyword',
  CountersignTenant: 'Keyword',
  CountersignTarget: 'Keyword',
  CountersignRequester: 'Keyword',
  CountersignTitle: 'Keyword',
  CountersignPending: 'Int',
  CountersignSeverity: 'Keyword',
} as const;

type SearchAttribute<Text = string> =
  | { readonly key: { readonly name: string; readonly type: 'KEYWORD' }; readonly value: Text }
  | { readonly key: { readonly name: string; readonly type: 'INT' }; readonly value: number };

/** Attributes that the client sets at the start. Without the requester, which the client cannot verify. */
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

/** All attributes, from the current status. The workflow upserts them when one of them changes. `title` is empty while it is unknown. */
export function searchAttributesOf(status: ReviewStatus, title: string): SearchAttribute<string | null>[] {
  return [
    { key: CountersignStatus, value: status.state },
    { key: CountersignSourceTool, value: status.sourceTool },
    { key: CountersignTenant, value: status.tenant },
    { key: CountersignTarget, value: status.target },
    { key: CountersignRequester, value: status.requester },
    { key: CountersignTitle, value: title === '' ? null : title },
    { key: CountersignPending, value: status.violations.filter((v) => v.resolution === 'pending').length },
    { key: CountersignSeverity, value: severityOf(status) },
  ];
}

function severityOf(status: ReviewStatus): string {
  for (const worst of ['BLOCK', 'WARN'] as const) if (status.findings.some((f) => f.status === worst)) return worst;
  return status.findings.some((f) => f.validatorId === 'always-approve') ? 'always-approve' : 'ALLOW';
}
