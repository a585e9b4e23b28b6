/**
 * Decides from the catalog whether statements may be rehearsed, before any of them executes.
 *
 * I1 Everything that they would execute is looked up: functions, operators, all casts and domain checks, and for each relation its
 *    policies, view, defaults, generated columns, constraints, indexes, triggers and cascades; then what these execute, and so on.
 * I2 A name counts as built-in only if no schema of the search path has an object of that name. In the body of a function, whose
 *    search path can differ, no schema at all may have one.
 * I3 What cannot be read, or is not on the list, is a reason not to rehearse.
 */
import { executedByPlpgsql, executedBySql } from '../facts/routine-body';
import type { Executed } from '../facts/rehearsable';
import { DEFAULT_FUNCTIONS, MOVING_CLOCKS, SAFE_FUNCTIONS } from '../facts/safe-functions';
import type { Write } from '../facts/writes';
import type { SqlName } from '../facts/sql-facts';
import { AssignedColumns, type WrittenColumns } from './assigned-columns';
import { calledFunctions } from './called-functions';
import * as sql from './inspect-queries';
import { OWN_SCHEMA } from './marker';
import { readStoredTree } from './node-tree';
import { toRelation, type Relation } from './relation';
import type { Session } from './session';

interface Inspection {
  /** Why the statements must not be rehearsed. Empty if they may be. */
  readonly reasons: readonly string[];
  readonly columns: WrittenColumns;
}

/**
 * What calls a function: `statement` includes views, constraints and policies. Only what a trigger calls may change rows. The check of
 * a domain may call C code that is not volatile, as an operator or a cast may.
 */
type Origin = 'statement' | 'default' | 'trigger' | 'domain';
type Role = 'read' | 'insert' | 'update' | 'delete';

/** Operators that a statement uses without writing them: by BETWEEN, IN, CASE, USING, DISTINCT and ORDER BY. */
const IMPLIED_OPERATORS = ['=', '<>', '<', '<=', '>', '>='];
const SYSTEM = new Set(['pg_catalog', 'information_schema', 'pg_toast']);
const MAX_ROUNDS = 40;

export async function inspectCatalog(
  session: Session,
  executed: readonly Executed[],
  maxRows: number,
): Promise<Inspection> {
  return new Inspector(session, maxRows).inspect(executed);
}

class Inspector {
  readonly #reasons = new Set<string>();
  readonly #columns = new AssignedColumns();
  readonly #functions = new Map<string, Origin>();
  readonly #doneFunctions = new Set<string>();
  readonly #pending = new Map<string, Set<Role>>();
  readonly #done = new Set<string>();
  readonly #all = new Set<string>();
  #path: readonly string[] = [];
  #builtinOperators = false;

  constructor(
    readonly session: Session,
    readonly maxRows: number,
  ) {}

  async inspect(executed: readonly Executed[]): Promise<Inspection> {
    const [[path, casts, operators, checks] = []] = await this.session.own(sql.OVERVIEW);
    this.#path = JSON.parse(path ?? '[]') as string[];
    this.#builtinOperators = operators === 'false';
    if (casts !== 'false') for (const [oid] of await this.session.own(sql.CASTS)) this.#function(oid);
    if (checks !== 'false')
      for (const [what, tree] of await this.session.own(sql.DOMAIN_CHECKS)) this.#expression(what, tree, 'domain');
    await this.#resolve(executed, null);
    for (let round = 0; this.#pending.size > 0 || this.#functions.size > 0; round++) {
      if (round === MAX_ROUNDS || this.#all.size > 500) {
        this.#reasons.add('triggers, views and functions refer to more objects than can be checked');
        break;
      }
      await this.#relations();
      await this.#routines();
    }
    return { reasons: [...this.#reasons], columns: this.#columns.whole() };
  }

  /** `body`: what calls the function, if these are the statements of its body. Null for the statements of the change. */
  async #resolve(executed: readonly Executed[], body: Origin | null): Promise<void> {
    const indirect = body !== null;
    const schemas = indirect ? null : list(this.#path);
    for (const { reasons } of executed) for (const reason of reasons) this.#reasons.add(reason);
    await this.#calls(
      executed.flatMap(({ calls }) => calls),
      schemas,
      body ?? 'statement',
    );
    await this.#operators(
      executed.flatMap(({ operators }) => operators),
      schemas,
    );
    const members = new Set(executed.flatMap((e) => e.members));
    const called = members.size === 0 ? [] : await this.session.own(sql.MEMBER_FUNCTIONS, [list(members), schemas]);
    for (const [oid, schema, name] of called)
      if (schema !== 'pg_catalog') this.#function(oid, body ?? 'statement');
      else if (!SAFE_FUNCTIONS.has(name ?? '') || MOVING_CLOCKS.has(name ?? ''))
        this.#reasons.add(`${name}() may be called by a name after a dot`);
    await this.#relationsOf(
      executed.flatMap(({ relations }) => relations),
      executed.flatMap(({ writes }) => writes),
      indirect,
    );
  }

  async #calls(calls: readonly SqlName[], schemas: string | null, origin: Origin): Promise<void> {
    if (calls.length === 0) return;
    const found = await this.session.own(sql.FUNCTIONS_BY_NAME, [list(calls.map((c) => c.name))]);
    for (const call of calls) {
      const named = found.filter(([, , name]) => name === call.name);
      const { reason, functions } = calledFunctions(
        call,
        named.map(([oid, schema]) => ({ oid: oid ?? '', schema: schema ?? '' })),
        { path: this.#path, indirect: schemas === null },
      );
      if (reason !== null) this.#reasons.add(reason);
      for (const oid of functions) this.#function(oid, origin);
    }
  }

  async #operators(operators: readonly SqlName[], schemas: string | null): Promise<void> {
    if (this.#builtinOperators) return;
    const names = new Set([...IMPLIED_OPERATORS, ...operators.map((o) => o.name)]);
    const explicit = operators.some(({ schema }) => schema !== null && schema !== 'pg_catalog');
    const found = await this.session.own(sql.OPERATORS, [list(names), explicit ? null : schemas]);
    for (const [schema, name, safe] of found)
      if (safe !== 'true')
        this.#reasons.add(
          `the operator ${name} of schema ${schema} is implemented by a function that is not on the list`,
        );
  }

  async #relationsOf(names: readonly SqlName[], writes: readonly Write[], indirect: boolean): Promise<void> {
    if (names.length === 0) return;
    const found = await this.#relationsWith(list(names.map((n) => n.name)), '{}');
    const means = (name: SqlName): readonly Relation[] =>
      found.filter(
        (r) =>
          r.name === name.name &&
          (name.schema === null ? indirect || this.#path.includes(r.schema) : r.schema === name.schema),
      );
    for (const name of names) for (const relation of means(name)) this.#use(relation, 'read');
    for (const write of writes) for (const relation of means(write.relation)) this.#write(relation, write, indirect);
  }

  #write(relation: Relation, write: Write, indirect: boolean): void {
    const roles: Role[] = [];
    if (write.command === 'INSERT' || write.command === 'MERGE') roles.push('insert');
    if (write.command === 'UPDATE' || write.command === 'MERGE') roles.push('update');
    if (write.command === 'INSERT' && write.columns.length > 0) roles.push('update'); // ON CONFLICT DO UPDATE
    if (write.command === 'DELETE' || write.command === 'MERGE') roles.push('delete');
    for (const role of roles) this.#use(relation, role);
    if (indirect && !write.counted) this.#bounded(relation);
    this.#columns.written(relation, write);
  }

  /** The table must be small, because the rows that a trigger, function or cascade changes are not counted in advance. */
  #bounded({ name, rows }: Relation): void {
    if (rows > this.maxRows)
      this.#reasons.add(
        `a trigger, function or cascade may change any of about ${Math.round(rows)} rows of ${name}, more than ${this.maxRows}`,
      );
  }

  #use(relation: Relation, role: Role): void {
    if (SYSTEM.has(relation.schema)) {
      this.#reasons.add(
        `${relation.name} belongs to the system: it shows sessions, settings, roles or other transactions`,
      );
      return;
    }
    if (relation.schema === OWN_SCHEMA) this.#reasons.add(`${relation.name} belongs to Countersign`);
    if (relation.kind === 'S') this.#reasons.add(`${relation.name} is a sequence`);
    for (const oid of relation.family) this.#want(oid, role);
  }

  #want(oid: string, role: Role): void {
    if (this.#done.has(`${oid} ${role}`)) return;
    this.#done.add(`${oid} ${role}`);
    this.#all.add(oid);
    this.#pending.set(oid, (this.#pending.get(oid) ?? new Set()).add(role));
  }

  #function(oid: string | null | undefined, origin: Origin = 'statement'): void {
    if (oid === null || oid === undefined || this.#doneFunctions.has(`${oid} ${origin}`)) return;
    this.#doneFunctions.add(`${oid} ${origin}`);
    // The strictest origin of a round counts.
    if (this.#functions.get(oid) !== 'statement') this.#functions.set(oid, origin);
  }

  async #relations(): Promise<void> {
    const pending = new Map(this.#pending);
    this.#pending.clear();
    if (pending.size === 0) return;
    const withRole = (...roles: readonly Role[]): string =>
      list([...pending].filter(([, has]) => roles.some((role) => has.has(role))).map(([oid]) => oid));
    const referred = new Set<string>();
    const cascades: string[] = [];
    const withDefaults = new Set<string>();
    const about = await this.session.own(sql.ABOUT_RELATIONS, [
      list(pending.keys()),
      ...[withRole('update', 'delete', 'insert'), withRole('insert'), withRole('delete'), withRole('update')],
    ]);
    for (const [kind, what, detail] of about)
      if (kind === 'read') for (const oid of this.#expression(what, detail, 'statement')) referred.add(oid);
      else if (kind === 'write') this.#expression(what, detail, 'statement');
      else if (kind === 'default') this.#expression(what, detail, 'default');
      else if (kind === 'trigger') {
        this.#columns.trigger(what ?? '', detail ?? '');
        this.#function(detail, 'trigger');
      } else if (kind === 'cascade') {
        cascades.push(what ?? '0');
        if (detail === 'true') withDefaults.add(what ?? '0');
      } else if (kind === 'foreign') this.#reasons.add(`${what} is a foreign table`);
      else this.#reasons.add(`${what} has rewrite rules, which execute other statements`);
    await this.#viewed(pending, [...referred]);
    for (const relation of await this.#byOid(cascades)) {
      this.#bounded(relation);
      this.#use(relation, 'update');
      this.#use(relation, 'delete');
      // ON DELETE SET DEFAULT evaluates defaults as an INSERT does.
      if (withDefaults.has(relation.oid)) this.#use(relation, 'insert');
    }
  }

  /** Tables behind views and policies: read, and written if the view is. */
  async #viewed(pending: ReadonlyMap<string, ReadonlySet<Role>>, referred: readonly string[]): Promise<void> {
    if (referred.length === 0) return;
    const views = (await this.#byOid([...pending.keys()])).filter(({ kind }) => kind === 'v');
    const roles = new Set<Role>(['read', ...views.flatMap(({ oid }) => [...(pending.get(oid) ?? [])])]);
    for (const relation of await this.#byOid(referred)) for (const role of roles) this.#use(relation, role);
  }

  async #byOid(oids: readonly string[]): Promise<readonly Relation[]> {
    if (oids.length === 0) return [];
    return this.#relationsWith('{}', list(oids));
  }

  async #relationsWith(names: string, oids: string): Promise<readonly Relation[]> {
    return (await this.session.own(sql.RELATIONS_FOR_CHECK, [names, oids])).map(toRelation);
  }

  /** Returns the relations that the expression reads. */
  #expression(what: string | null | undefined, tree: string | null | undefined, origin: Origin): readonly string[] {
    const stored = readStoredTree(tree ?? '');
    for (const reason of stored.reasons) this.#reasons.add(`${what} ${reason}`);
    for (const oid of stored.functions) this.#function(oid, origin);
    return stored.relations;
  }

  async #routines(): Promise<void> {
    const wanted = new Map(this.#functions);
    this.#functions.clear();
    if (wanted.size === 0) return;
    const rows = await this.session.own(sql.FUNCTIONS_BY_OID, [list(wanted.keys()), list(SAFE_FUNCTIONS)]);
    const bodies = new Map<Origin, Executed[]>();
    const stored: [string, Origin][] = [];
    for (const row of rows) {
      const [oid = '', label = '', language, allowed, source, definition, tree, settings, argumentDefaults, code] = row;
      const origin = wanted.get(oid ?? '') ?? 'statement';
      const name = (label ?? '').replace('pg_catalog.', '');
      if (allowed === 'true' || (origin === 'default' && label === `pg_catalog.${name}` && DEFAULT_FUNCTIONS.has(name)))
        continue;
      if (origin === 'domain' && code === 'true') continue;
      this.session.discardPlans();
      const place = `the function ${name}()`;
      this.#expression(`a default argument of ${name}()`, argumentDefaults, origin);
      if (settings != null && !/^search_path=[^,]*(, [^=]*)?$/.test(settings))
        this.#reasons.add(`${place} changes settings`);
      if (label?.startsWith('pg_catalog.') === true || (language !== 'sql' && language !== 'plpgsql')) {
        this.#reasons.add(`${place} is not on the list of functions that a dry run may execute`);
      } else if (tree != null) stored.push([tree, origin]);
      else {
        const executed =
          language === 'sql'
            ? executedBySql(source ?? '', place)
            : executedByPlpgsql(definition ?? '', source ?? '', place);
        this.#columns.routine(oid ?? '', executed);
        if (origin !== 'trigger' && executed.some(({ writes }) => writes.length > 0))
          this.#reasons.add(`${place} changes rows`);
        if (origin !== 'trigger' && executed.some(({ moving }) => moving.length > 0))
          this.#reasons.add(`${place} reads a clock that moves during the dry run`);
        bodies.set(origin, [...(bodies.get(origin) ?? []), ...executed]);
      }
    }
    for (const [origin, executed] of bodies) await this.#resolve(executed, origin);
    for (const [tree, origin] of stored) await this.#storedBody(tree, origin);
  }

  /** A function with a parsed body (BEGIN ATOMIC). */
  async #storedBody(tree: string, origin: Origin): Promise<void> {
    const { functions, relations, reasons } = readStoredTree(tree);
    for (const reason of reasons) this.#reasons.add(`a function ${reason}`);
    for (const oid of functions) this.#function(oid, origin);
    const writes = /:commandType [^1]/.test(tree);
    if (writes && origin !== 'trigger') this.#reasons.add('a function that it calls changes rows');
    for (const relation of await this.#byOid(relations)) {
      for (const role of writes ? (['read', 'insert', 'update', 'delete'] as const) : (['read'] as const))
        this.#use(relation, role);
      if (writes) this.#bounded(relation);
    }
  }
}

/** An array parameter. */
function list(values: Iterable<string>): string {
  const quoted = [...new Set(values)].map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`);
  return `{${quoted.join(',')}}`;
}
