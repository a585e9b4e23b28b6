import { compilePlan } from '../../../../../policy/bundle/compile-plan';
import { planEvaluator, type Evaluation } from '../../../../../policy/bundle/evaluate';
import { parseBundle } from '../../../../../policy/bundle/parse-bundle';
import type { Metadata } from '../../../../../policy/contracts/diff';
import { aggregateDefinition } from '../../../../../policy/rules/aggregate/aggregate';
import { BUILTIN_VALIDATORS } from '../../../../../policy/rules/builtin';
import { validatorRegistry } from '../../../../../policy/rules/registry';
import { contractValidators } from '../../../../../policy/validators/definitions';
import { packDefinitions } from '../../../../../source-tools';
import { extractSqlFacts } from '../../../../../source-tools/sql/facts/extract-sql-facts';
import { starterBundle } from '../../../../../source-tools/starter-bundle';
import { ourTools } from '../../../../support/source-tools';
import { bytesOf } from './run-rule';

const registry = validatorRegistry([
  ...packDefinitions,
  ...contractValidators,
  aggregateDefinition,
  ...BUILTIN_VALIDATORS,
] as never);

/** What the starter bundle for SQL decides about a text without the record of a dry run, like `countersign policy eval`. */
export function starterEvaluator(): (sql: string, metadata?: Metadata) => Promise<Evaluation> {
  const parsed = parseBundle(starterBundle('SQLDryRun'));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
  const at = { target: 'dev', sourceTool: 'SQLDryRun', tools: ourTools, locate: parsed.locate };
  const compiled = compilePlan(parsed.bundle, registry, at);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
  const evaluate = planEvaluator(compiled.plan, registry, ourTools);
  return async (sql, metadata = {}) => {
    const raw = bytesOf(sql);
    return evaluate({ raw, metadata, facts: await extractSqlFacts(raw), staging: null, at: null });
  };
}

/** Names of the rules that fired. */
export function firedRules({ findings }: Evaluation): readonly string[] {
  return findings.filter(({ status }) => status !== 'ALLOW').map(({ validator_id: id }) => id.replace('guardian.', ''));
}
