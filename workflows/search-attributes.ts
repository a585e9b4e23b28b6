/**
 * Search attributes of a review, once: the client sets them at the start, the workflow upserts them, `setup` registers
 * them. They are stored in the clear whatever codec is configured, so nothing of a diff or a reason goes in (P12).
 * Only @temporalio/common here: the sandbox loads this file too.
 */
import { defineSearchAttributeKey, type SearchAttributePair, type SearchAttributeUpdatePair } from '@temporalio/common';
import type { ReviewState } from '../policy/contracts/outcome';
import type { ReviewStatus } from '../policy/contracts/status';

export const CountersignStatus = defineSearchAttributeKey('CountersignStatus', 'KEYWORD');
export const CountersignSourceTool = defineSearchAttributeKey('CountersignSourceTool', 'KEYWORD');
export const CountersignTenant = defineSearchAttributeKey('CountersignTenant', 'KEYWORD');
export const CountersignTarget = defineSearchAttributeKey('CountersignTarget', 'KEYWORD');
/** The person behind the service key, as verified by the first activity; absent while unknown. */
export const CountersignRequester = defineSearchAttributeKey('CountersignRequester', 'KEYWORD');
/** Violations that still wait for a person. */
export const CountersignPending = defineSearchAttributeKey('CountersignPending', 'INT');
/** The worst finding so far: BLOCK, WARN or ALLOW; `always-approve` where nothing else validates (C10). */
export const CountersignSeverity = defineSearchAttributeKey('CountersignSeverity', 'KEYWORD');

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

/** What a client can say when it starts a review: facts of the submission, no claim about the requester. */
export function startAttributes(submission: {
  readonly tenant: string;
  readonly target: string;
  readonly sourceTool: string;
}): SearchAttributePair[] {
  return [
    { key: CountersignStatus, value: 'RUNNING' satisfies ReviewState },
    { key: CountersignSourceTool, value: submission.sourceTool },
    { key: CountersignTenant, value: submission.tenant },
    { key: CountersignTarget, value: submission.target },
    { key: CountersignPending, value: 0 },
  ];
}

/** All of them, as the workflow knows them now; upserted when a review begins to wait and when it ends. */
export function searchAttributesOf(status: ReviewStatus): SearchAttributeUpdatePair[] {
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
