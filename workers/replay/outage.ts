import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { messageOf } from '../../client/errors';
import { toTemporalProblem } from '../../client/temporal-errors';

/** A failed request can be due to one workflow. As many failures in a row are an outage of the server. */
const MAX_IN_A_ROW = 3;

interface ReadFailure {
  /**
   * - `gone`: the server no longer has the workflow.
   * - `server`: the request failed.
   * - `workflow`: the server answered, but the answer cannot be read, for example because of an invalid memo.
   */
  readonly kind: 'gone' | 'server' | 'workflow';
  readonly why: string;
}

/** Why a workflow could not be read. The namespace must be known to exist if `error` is a gRPC error. */
export function readFailure(error: unknown): ReadFailure {
  const problem = toTemporalProblem(error);
  if (problem.kind === 'not_running') return { kind: 'gone', why: 'Temporal no longer has it' };
  const why = 'message' in problem ? problem.message : messageOf(error);
  const isServer =
    error instanceof ServiceError || error instanceof NamespaceNotFoundError || isGrpcServiceError(error);
  return { kind: isServer ? 'server' : 'workflow', why };
}

/** Distinguishes an outage of the Temporal server from single workflows that cannot be read. */
export class OutageWatch {
  #inARow = 0;
  #answered = false;
  #last = '';

  /** The server answered a request. */
  answered(): void {
    this.#inARow = 0;
    this.#answered = true;
  }

  /** A workflow could not be read. Throws if requests for this and the workflows before it failed. */
  failed({ kind, why }: ReadFailure): void {
    if (kind !== 'server') {
      this.answered();
      return;
    }
    this.#inARow++;
    this.#last = why;
    if (this.#inARow >= MAX_IN_A_ROW) this.#throw();
  }

  /** After the last workflow. Throws if requests failed and the server answered none. */
  end(): void {
    if (!this.#answered && this.#inARow > 0) this.#throw();
  }

  #throw(): never {
    throw new Error(`Temporal did not answer for ${this.#inARow} reviews in a row: ${this.#last}`);
  }
}
