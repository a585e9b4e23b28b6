import { isPlain } from '../policy/contracts/canonical-json';
import { described } from '../policy/contracts/definition-shape';
import { errorMessage } from '../policy/contracts/error-message';
import type { Facts } from '../policy/contracts/facts';
import { createRedactor } from '../policy/judge/redact';
import { deepFreeze } from '../policy/rules/deep-freeze';

const FACTS = '{ok: true, kind, parser} with the facts, or {ok: false, code, message, span}';
const PLAIN_DATA =
  'strings, finite numbers, true, false, null, and arrays and plain objects of these; an undefined member of an object counts as absent';

/** What the reader of a source tool returned, frozen. Throws TypeError with the member that is wrong and what is allowed. */
export function checkedFacts(sourceTool: string, facts: unknown): Facts {
  const refuse = (problem: string): TypeError => new TypeError(`Source tool "${sourceTool}": ${problem}`);
  const given = wrongRoot(facts);
  if (given !== null) throw refuse(`facts returned ${given}; expected ${FACTS}`);
  try {
    const fault = notPlain(facts as Facts);
    if (fault !== null) throw refuse(`${fault}; expected ${PLAIN_DATA}`);
    return deepFreeze(facts as Facts);
  } catch (error) {
    // Nested so deeply that the stack is too small.
    if (error instanceof RangeError) throw refuse(`facts: ${errorMessage(error)}; expected fewer levels`);
    throw error;
  }
}

/** What was returned instead of facts; null if the root has the members that all facts have. */
function wrongRoot(facts: unknown): string | null {
  if (typeof facts !== 'object' || facts === null || Array.isArray(facts)) return described(facts);
  if (!isPlain(facts)) return `a ${className(facts)}`;
  const { ok, kind, code, message } = facts as Readonly<Record<string, unknown>>;
  if (typeof ok !== 'boolean') return withMember('ok', ok);
  if (ok) return typeof kind === 'string' ? null : withMember('kind', kind);
  if (typeof code !== 'string') return withMember('code', code);
  return typeof message === 'string' ? null : withMember('message', message);
}

function withMember(name: string, value: unknown): string {
  return `an object whose "${name}" is ${value === undefined ? 'missing' : described(value)}`;
}

interface Fault {
  readonly problem: string;
  /** From the innermost member outwards. */
  readonly path: string[];
}

/**
 * The first member of facts that is not plain data, such as `facts.statements[0].at is a Date`; null if all are. A condition would read
 * a Map as empty, and no comparison with NaN is true, so that a limit on it would never fire. Visits an object that is shared once.
 */
function notPlain(facts: object): string | null {
  const fault = faultIn(facts, new Set(), new Set());
  if (fault === null) return null;
  // The names of members can come from the change.
  return `facts${createRedactor().redact(fault.path.reverse().join(''))} ${fault.problem}`;
}

/** `open`: the objects that contain `value`; `done`: those without a fault. */
function faultIn(value: unknown, open: Set<object>, done: Set<object>): Fault | null {
  if (typeof value !== 'object' || value === null) return faultOf(problemOf(value));
  if (ArrayBuffer.isView(value) || done.has(value)) return null;
  if (open.has(value)) return faultOf('is one of the objects that contain it');
  const isArray = Array.isArray(value);
  if (!isArray && !isPlain(value)) return faultOf(`is a ${className(value)}`);
  open.add(value);
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined && !isArray) continue;
    const fault = faultIn(member, open, done);
    if (fault === null) continue;
    fault.path.push(isArray ? `[${key}]` : `.${key.slice(0, 50)}`);
    return fault;
  }
  open.delete(value);
  done.add(value);
  return null;
}

function faultOf(problem: string | null): Fault | null {
  return problem === null ? null : { problem, path: [] };
}

function problemOf(value: unknown): string | null {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return null;
  if (value === undefined) return 'is undefined';
  return typeof value === 'number' ? `is ${value}` : `is a ${typeof value}`;
}

/** The class of an object that is not plain. */
function className(value: object): string {
  return (value.constructor as { readonly name?: string } | undefined)?.name || 'class instance';
}
