import type { CountersignFailure } from '../../../policy/contracts/failure';
import { DatabaseError } from 'pg';
import { targetMisconfigured, targetUnavailable } from '../../target-failure';

/** Classified driver error. `refused`: the server rejected the statement, so the transaction was rolled back and nothing was applied. */
type SqlFailure =
  | {
      readonly kind: 'refused';
      readonly sqlstate: string;
      readonly explanation: string;
    }
  | { readonly kind: 'unavailable'; readonly explanation: string }
  | { readonly kind: 'misconfigured'; readonly explanation: string };

const UNAVAILABLE = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
  '57014', // query_canceled: statement_timeout
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
]);
/** Connection, resource, operator intervention, system and internal errors, which are caused by the target and not by the statement. */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58', 'XX', 'F0']);
const MISCONFIGURED_CLASSES = new Set(['28', '3D']);

const CLASS_WORDS: Readonly<Record<string, string>> = {
  '0A': 'not supported',
  '21': 'cardinality violation',
  '22': 'data exception',
  '23': 'integrity constraint violation',
  '25': 'invalid transaction state',
  '2D': 'transaction control is not allowed here',
  '42': 'syntax error or access rule violation',
  '44': 'view check option violation',
  P0: 'raised by a function',
};
const STATE_WORDS: Readonly<Record<string, string>> = {
  '23502': 'a column may not be null',
  '23503': 'foreign key violation',
  '23505': 'unique violation',
  '23514': 'check violation',
  '25006': 'read-only transaction',
  '42501': 'insufficient privilege',
  '42601': 'syntax error',
  '42703': 'undefined column',
  '42883': 'undefined function',
  '42P01': 'undefined table',
};

/** `place` names what was being run, for example `statement 2`. */
export function toSqlFailure(error: unknown, place: string): SqlFailure {
  if (!(error instanceof DatabaseError) || error.code === undefined) {
    return { kind: 'unavailable', explanation: `${place}: ${networkReason(error)}` };
  }
  const { code } = error;
  const words = STATE_WORDS[code] ?? CLASS_WORDS[code.slice(0, 2)] ?? 'rejected';
  if (MISCONFIGURED_CLASSES.has(code.slice(0, 2)))
    return { kind: 'misconfigured', explanation: `${place}: ${code} ${words}` };
  // FATAL and PANIC end the session, so they do not say anything about the statement.
  if (error.severity !== 'ERROR' || UNAVAILABLE.has(code) || UNAVAILABLE_CLASSES.has(code.slice(0, 2))) {
    return { kind: 'unavailable', explanation: `${place}: ${code} ${unavailableWords(code)}` };
  }
  // The server's message may quote rows or parts of the diff, so the explanation contains only names of catalog objects.
  const names = [
    nameOf('table', error.schema === undefined ? error.table : `${error.schema}.${error.table ?? '?'}`),
    nameOf('column', error.column),
    nameOf('constraint', error.constraint),
  ].filter((n) => n !== null);
  return {
    kind: 'refused',
    sqlstate: code,
    explanation: `${place}: rejected by the server: ${code} ${words}${names.length === 0 ? '' : ` (${names.join(', ')})`}`,
  };
}

/** Failure to throw if a session cannot be opened. A standby, which a failover may connect to, rejects `BEGIN … READ WRITE`. */
export function toConnectFailure(target: string, error: unknown): CountersignFailure {
  const failure = toSqlFailure(error, 'connecting');
  return failure.kind === 'refused' && failure.sqlstate === '0A000'
    ? targetUnavailable(target, `${failure.explanation}; the server is a standby`)
    : toTargetFailure(target, failure);
}

/** Failure to throw if one of Countersign's own queries fails: a refusal is then a missing grant or table, unless the server is read-only. */
export function toTargetFailure(target: string, failure: SqlFailure): CountersignFailure {
  switch (failure.kind) {
    case 'unavailable':
      return targetUnavailable(target, failure.explanation);
    case 'misconfigured':
      return targetMisconfigured(target, failure.explanation);
    case 'refused':
      return failure.sqlstate === '25006'
        ? targetUnavailable(target, failure.explanation)
        : targetMisconfigured(target, failure.explanation);
    default:
      return failure satisfies never;
  }
}

function unavailableWords(code: string): string {
  if (code === '57014') return 'statement timeout';
  if (code === '55P03') return 'lock timeout';
  if (code === '40P01') return 'deadlock';
  if (code.startsWith('57')) return 'the server ended the session';
  return 'the server is temporarily unable to run it';
}

function networkReason(error: unknown): string {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code === 'string') return `connection failed (${code})`;
  return typeof message === 'string' && message !== '' ? `connection failed (${message})` : 'connection failed';
}

function nameOf(what: string, name: string | undefined): string | null {
  return name === undefined ? null : `${what} ${name.slice(0, 130)}`;
}
