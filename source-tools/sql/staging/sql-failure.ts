import type { CountersignFailure } from '../../../policy/contracts/failure';
import { DatabaseError } from 'pg';
import { targetMisconfigured, targetUnavailable } from '../../target-failure';

/** What an error of the driver means. `refused`: the server's verdict on the statement; the transaction is gone, nothing applied. */
export type SqlFailure =
  | {
      readonly kind: 'refused';
      readonly sqlstate: string;
      readonly explanation: string;
      readonly serverSays: Readonly<Record<string, string>>;
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
/** Connection, resources, operator intervention, system and internal errors: the target's trouble, not the statement's. */
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

/** `place` names what was being run, such as `statement 2`. */
export function toSqlFailure(error: unknown, place: string): SqlFailure {
  if (!(error instanceof DatabaseError) || error.code === undefined) {
    return { kind: 'unavailable', explanation: `${place}: ${networkReason(error)}` };
  }
  const { code } = error;
  const words = STATE_WORDS[code] ?? CLASS_WORDS[code.slice(0, 2)] ?? 'refused';
  // FATAL and PANIC end the session: never a verdict on the statement.
  if (MISCONFIGURED_CLASSES.has(code.slice(0, 2)))
    return { kind: 'misconfigured', explanation: `${place}: ${code} ${words}` };
  if (error.severity !== 'ERROR' || UNAVAILABLE.has(code) || UNAVAILABLE_CLASSES.has(code.slice(0, 2))) {
    return { kind: 'unavailable', explanation: `${place}: ${code} ${unavailableWords(code)}` };
  }
  // The server's own message may quote rows or bytes of the diff, so only names of its catalogue go on (P12).
  const names = [
    named('table', error.schema === undefined ? error.table : `${error.schema}.${error.table ?? '?'}`),
    named('column', error.column),
    named('constraint', error.constraint),
  ].filter((n) => n !== null);
  return {
    kind: 'refused',
    sqlstate: code,
    explanation: `${place}: the server refused it: ${code} ${words}${names.length === 0 ? '' : ` (${names.join(', ')})`}`,
    serverSays: said({ message: error.message, detail: error.detail, hint: error.hint, where: error.where }),
  };
}

/** The failure to throw where a refusal is no verdict on the change: on our own queries. */
export function toTargetFailure(target: string, failure: SqlFailure): CountersignFailure {
  switch (failure.kind) {
    case 'unavailable':
      return targetUnavailable(target, failure.explanation);
    case 'misconfigured':
    case 'refused':
      return targetMisconfigured(target, failure.explanation);
    default:
      return failure satisfies never;
  }
}

function unavailableWords(code: string): string {
  if (code === '57014') return 'statement time-out';
  if (code === '55P03') return 'lock time-out';
  if (code === '40P01') return 'deadlock';
  if (code.startsWith('57')) return 'the server ended the session';
  return 'the server could not serve it now';
}

function networkReason(error: unknown): string {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code === 'string') return `connection failed (${code})`;
  return typeof message === 'string' && message !== '' ? `connection failed (${message})` : 'connection failed';
}

function named(what: string, name: string | undefined): string | null {
  return name === undefined ? null : `${what} ${name.slice(0, 130)}`;
}

function said(parts: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [key, value] of Object.entries(parts)) if (value !== undefined) out[key] = value.slice(0, 2_000);
  return out;
}
