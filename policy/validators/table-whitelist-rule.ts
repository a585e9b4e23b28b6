import type { DiffInput } from '../contracts/diff';
import { APPROVED, checkName, type Rule, type RuleResult } from './rule';

const POINTER = '/table_name';

/**
 * Blocks if the claim `metadata.table_name` is not exactly one of `allowed`; an empty list blocks every table. A missing
 * claim warns, because it is suspicious but not conclusive; a claim that is not a string blocks.
 */
export function tableWhitelistRule({
  name,
  allowed,
}: {
  readonly name: string;
  readonly allowed: readonly string[];
}): Rule {
  checkName('TableWhitelistRule', name);
  if (!Array.isArray(allowed) || allowed.some((table) => typeof table !== 'string' || table === '')) {
    throw new TypeError(`TableWhitelistRule "${name}", allowed: expected a list of table names`);
  }
  const tables: ReadonlySet<string> = new Set(allowed);
  return Object.freeze({ name, apply: (diff: DiffInput) => apply(diff, tables) });
}

function apply(diff: DiffInput, allowed: ReadonlySet<string>): RuleResult {
  if (!Object.hasOwn(diff.metadata, 'table_name')) return fail('warn', 'the metadata has no table_name');
  const table = diff.metadata['table_name'];
  if (typeof table !== 'string') return fail('block', 'table_name is not a string');
  return allowed.has(table) ? APPROVED : fail('block', 'table_name is not one of the allowed tables');
}

function fail(severity: 'warn' | 'block', reason: string): RuleResult {
  return { approved: false, severity, reason, places: [{ kind: 'metadata', pointer: POINTER }] };
}
