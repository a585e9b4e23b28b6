/** What Temporal says of a workflow that does not exist, or that ended before the message reached it. */
export const ENDED = [
  'already completed',
  'not found',
  'AcceptedUpdateCompletedWorkflow',
  'completed before the Update',
  'aborted by closing workflow',
] as const;

/** What the server or the review says of a message that is too large, malformed or one of too many. */
export const TOO_MUCH = [
  'RESOURCE_EXHAUSTED',
  'INVALID_ARGUMENT',
  'unexpected workflow task failure',
  'exceeds',
  'limit',
  'WorkflowUpdateFailedError',
  'WorkflowUpdateRPCTimeoutOrCancelledError',
] as const;

/** The result, or `instead` if it was refused with one of these words. Any other failure means that the attack was not carried out. */
export async function ifRefused<T, U>(result: Promise<T>, words: readonly string[], instead: U): Promise<T | U> {
  try {
    return await result;
  } catch (error) {
    const text = textOf(error);
    if (words.some((word) => text.includes(word))) return instead;
    throw error;
  }
}

/** Type and message of an error and of its causes. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { type } = error as { type?: unknown };
  return `${error.name} ${String(type ?? '')} ${error.message}\n${error.cause === undefined ? '' : textOf(error.cause)}`;
}
