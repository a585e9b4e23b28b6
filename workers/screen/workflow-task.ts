import { bytesOf, isDecodable, numberOf, withField } from './decodable';

/** A task of the server, which may not be decodable. */
export interface WorkflowTask {
  readonly taskToken: Uint8Array;
  readonly workflowId: string;
  readonly runId: string;
  /** True if an earlier workflow task of the run completed, so that it can be reset. */
  readonly hasCompletedTask: boolean;
  /** True if it is only a query. */
  readonly isQuery: boolean;
  /** Goes back to the server with the answer to a query. */
  readonly pollerGroupId: string;
}

const service = <C extends string>(call: C) => `/temporal.api.workflowservice.v1.WorkflowService/${call}` as const;
const POLL = service('PollWorkflowTaskQueue');
const COMPLETED = service('RespondWorkflowTaskCompleted');
const HISTORY = service('GetWorkflowExecutionHistory');

/** Calls whose responses contain events of histories, with the type of the response. */
const RESPONSES = {
  [POLL]: 'temporal.api.workflowservice.v1.PollWorkflowTaskQueueResponse',
  [COMPLETED]: 'temporal.api.workflowservice.v1.RespondWorkflowTaskCompletedResponse',
  [HISTORY]: 'temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryResponse',
} as const;
export type ScreenedPath = keyof typeof RESPONSES;

export function isScreened(path: string): path is ScreenedPath {
  return Object.hasOwn(RESPONSES, path);
}

const ANSWERS: ReadonlySet<string> = new Set([
  COMPLETED,
  service('RespondWorkflowTaskFailed'),
  service('RespondQueryTaskCompleted'),
]);

/** True for the calls with which the core answers a task. */
export function isAnswer(path: string): boolean {
  return ANSWERS.has(path);
}

/** The token of the task that a request of an answer names. */
export function answeredToken(request: Uint8Array): Uint8Array {
  return bytesOf(request, 1) ?? new Uint8Array();
}

/** True if a worker may be unable to decode this response. */
export function isPoisoned(path: ScreenedPath, message: Uint8Array): boolean {
  return !isDecodable(RESPONSES[path], message);
}

/** Which history a request of `GetWorkflowExecutionHistory` reads; null for other paths. */
export function readHistory(
  path: ScreenedPath,
  request: Uint8Array | null,
): { readonly runId: string; readonly isFirstPage: boolean } | null {
  if (path !== HISTORY || request === null) return null;
  const runId = bytesOf(bytesOf(request, 2) ?? new Uint8Array(), 2);
  return { runId: Buffer.from(runId ?? []).toString('utf8'), isFirstPage: (bytesOf(request, 4) ?? []).length === 0 };
}

/** True if a task in a response of this path continues a task that the core has just completed. */
export function isContinued(path: ScreenedPath): boolean {
  return path === COMPLETED;
}

const WORKFLOW_TASK = 1;
const QUERY = 10;
const QUERIES = 14;
const POLLER_GROUP_ID = 17;

/**
 * The response without the queries that the server attached to a workflow task; the same bytes if it has none. The server then sends
 * each query as a task of its own, after the workflow task.
 */
export function withoutQueries(path: ScreenedPath, message: Uint8Array): Uint8Array {
  if (path === HISTORY) return message;
  const strip = (task: Uint8Array): Uint8Array => withField(task, QUERIES, () => null);
  return path === COMPLETED ? withField(message, WORKFLOW_TASK, strip) : strip(message);
}

/** The task in a response of this path; null if the response has no task. */
export function taskIn(path: ScreenedPath, message: Uint8Array): WorkflowTask | null {
  if (path === HISTORY) return null;
  // The response to a completed task can have the next one.
  const task = path === COMPLETED ? bytesOf(message, WORKFLOW_TASK) : message;
  const taskToken = task === null ? null : bytesOf(task, 1);
  if (task === null || taskToken === null) return null;
  const execution = bytesOf(task, 2) ?? new Uint8Array();
  const text = (bytes: Uint8Array | null): string => Buffer.from(bytes ?? []).toString('utf8');
  return {
    taskToken,
    workflowId: text(bytesOf(execution, 1)),
    runId: text(bytesOf(execution, 2)),
    hasCompletedTask: numberOf(task, 4) > 0,
    isQuery: bytesOf(task, QUERY) !== null,
    pollerGroupId: text(bytesOf(task, POLLER_GROUP_ID)),
  };
}
