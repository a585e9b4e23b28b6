import { combined, type Assigned } from '../facts/assigned';
import type { Executed } from '../facts/rehearsable';
import type { Write } from '../facts/writes';
import { relationLabel } from './identifiers';
import type { Relation } from './relation';
import { columnsOf } from './written-columns';

/** By table oid: how the columns get their new values, and the labels of the tables that the statements name for it (partitions). */
export type WrittenColumns = ReadonlyMap<
  string,
  { readonly named: ReadonlySet<string>; readonly assigned: ReadonlyMap<string, Assigned> }
>;

interface Written {
  readonly named: Set<string>;
  readonly assigned: Map<string, Assigned>;
  readonly generated: readonly string[];
}

/** Collects how the columns of the written tables get their new values: from statements, and from the functions of triggers. */
export class AssignedColumns {
  readonly #written = new Map<string, Written>();
  readonly #triggers: { readonly relation: string; readonly routine: string }[] = [];
  readonly #assigns = new Map<string, readonly Executed['assigns'][number][]>();

  /** A statement writes to this relation. */
  written(relation: Relation, write: Write): void {
    for (const oid of relation.family) {
      const known = this.#written.get(oid) ?? {
        named: new Set(),
        assigned: new Map<string, Assigned>(),
        generated: relation.generated,
      };
      known.named.add(relationLabel(relation.schema, relation.name));
      for (const [name, assigned] of columnsOf(relation, write)) {
        const before = known.assigned.get(name);
        known.assigned.set(name, before === undefined ? assigned : combined([before, assigned]));
      }
      this.#written.set(oid, known);
    }
  }

  /** A trigger of this relation calls this routine. Both are oids. */
  trigger(relation: string, routine: string): void {
    this.#triggers.push({ relation, routine });
  }

  /** What the body of a routine executes. */
  routine(oid: string, executed: readonly Executed[]): void {
    this.#assigns.set(
      oid,
      executed.flatMap(({ assigns }) => assigns),
    );
  }

  /** Call it once, after all statements, triggers and routines. */
  whole(): WrittenColumns {
    this.#applyTriggers();
    this.#applyGenerated();
    return this.#written;
  }

  /** A trigger may give a column another value than the statement does. */
  #applyTriggers(): void {
    for (const { relation, routine } of this.#triggers) {
      const known = this.#written.get(relation)?.assigned;
      if (known === undefined) continue;
      for (const { name, assigned } of this.#assigns.get(routine) ?? [])
        for (const column of name === null ? [...known.keys()] : [name]) {
          const before = known.get(column) ?? 'own';
          known.set(column, before === 'own' ? assigned : combined([before, assigned]));
        }
    }
  }

  /** Any value may follow from a random UUID of the statement, and the dry run shows only one of them. */
  #applyGenerated(): void {
    for (const { assigned, generated } of this.#written.values())
      if ([...assigned.values()].includes('uuid')) for (const column of generated) assigned.set(column, 'other');
  }
}
