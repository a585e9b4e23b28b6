import { isPlain } from '../policy/contracts/canonical-json';
import { described } from '../policy/contracts/definition-shape';
import type { Facts } from '../policy/contracts/facts';
import { createRedactor } from '../policy/judge/redact';
import { deepFreeze } from '../policy/rules/deep-freeze';

const FACTS = '{ok: true, kind, parser} with the facts, or {ok: false, code, message, span}';
const PLAIN_DATA =
  'bytes, strings, finite numbers, true, false, null, and arrays and plain objects of these; an undefined member of an object counts as absent';
/** The same on each machine, and far below what the stack of a thread allows. */
const MAX_LEVELS = 1000;

/** What the reader of a source tool returned, frozen. Throws TypeError with the member that is wrong and what is allowed. */
export function checkedFacts(sourceTool: string, facts: unknown): Facts {
  const refuse = (problem: string): TypeError => new TypeError(`Source tool "${sourceTool}": ${problem}`);
  const given = wrongRoot(facts);
  if (given !== null) throw refuse(`facts returned ${given}; expected ${FACTS}`);
  const fault = notPlain(facts as Facts);
  if (fault !== null) throw refuse(`${fault}; expected ${PLAIN_DATA}`);
  return deepFreeze(facts as Facts);
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

/**
 * `open`: the objects that contain `value`; `done`: those without a fault that contain objects. Most objects of large facts contain
 * none, and are in neither: sets of all of them cost more than the rest of the check.
 */
function faultIn(value: unknown, open: Set<object>, done: Set<object>): Fault | null {
  if (typeof value !== 'object' || value === null) return faultOf(problemOf(value));
  if (done.has(value)) return null;
  const problem = problemOfObject(value, open);
  if (problem !== null) return faultOf(problem);
  if (ArrayBuffer.isView(value)) return null;
  // The keys of an array include its holes.
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const isGetter = lookupGetter.call(value, key) !== undefined;
    const member = isGetter ? null : (value as Readonly<Record<string | number, unknown>>)[key];
    if (member === undefined && typeof key === 'string') continue;
    if (typeof member === 'object' && member !== null) open.add(value);
    const fault = isGetter ? faultOf('is a getter') : faultIn(member, open, done);
    if (fault === null) continue;
    fault.path.push(typeof key === 'number' ? `[${key}]` : memberName(key));
    return fault;
  }
  if (open.delete(value)) done.add(value);
  return null;
}

function memberName(key: string): string {
  return `.${key.slice(0, 50)}`;
}

/** Makes no object for each member, unlike a property descriptor, which doubles the time of the check. */
const { __lookupGetter__: lookupGetter } = Object.prototype as unknown as {
  readonly __lookupGetter__: (this: object, key: string | number) => (() => unknown) | undefined;
};

/** Why an object is not plain data, whatever its members are. */
function problemOfObject(value: object, open: ReadonlySet<object>): string | null {
  if (open.has(value)) return 'is one of the objects that contain it';
  if (open.size >= MAX_LEVELS) return `is in more than ${MAX_LEVELS} levels`;
  if (!isPlainData(value)) return `is a ${className(value)}`;
  // A hole of a shorter list of keys is found later.
  if (Array.isArray(value) && Object.keys(value).length > value.length) return 'is an array with a named member';
  return null;
}

/** Numbers of other typed arrays are not checked. */
function isPlainData(value: object): boolean {
  if (ArrayBuffer.isView(value)) return Object.prototype.toString.call(value) === '[object Uint8Array]';
  // The prototype of an array is a plain object; that of a subclass is not.
  return isPlain(Array.isArray(value) ? (Object.getPrototypeOf(value) as object) : value);
}

function faultOf(problem: string): Fault;
function faultOf(problem: string | null): Fault | null;
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
