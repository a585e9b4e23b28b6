import { extractGitPatchFacts } from '../../../../source-tools/git/facts/extract-git-facts';
import { extractHttpPatchFacts } from '../../../../source-tools/http/facts/extract-http-facts';
import { extractSqlFacts } from '../../../../source-tools/sql/facts/extract-sql-facts';
import { extractTerraformPlanFacts } from '../../../../source-tools/terraform/facts/extract-terraform-facts';
import { createSqlCasTool } from '../../../../source-tools/sql/sql-cas-tool';
import { ValidatorResult } from '../../../../policy/contracts/finding';
import { sha256Hex } from '../../../../policy/contracts/hash';
import type { Facts } from '../../../../policy/contracts/facts';
import type { ExampleBytes, PackRule } from '../../../../policy/rules/rule-maker';
import { updatedRows } from '../../../source-tools/sql/rules/support/run-rule';
import { ruleInput } from '../../../support/rule-input';

const cas = createSqlCasTool();

const extractCas = (raw: Uint8Array): Promise<Facts> =>
  cas.extractFacts({ sourceTool: 'SQLCAS', raw, diffSha: sha256Hex(raw), metadata: {} });

const EXTRACTORS: Readonly<Record<string, (raw: Uint8Array) => Facts | Promise<Facts>>> = {
  SQLDryRun: extractSqlFacts,
  SQLCAS: extractCas,
  GitPatch: extractGitPatchFacts,
  HTTPPatch: extractHttpPatchFacts,
  TerraformPlan: extractTerraformPlanFacts,
};

export const exampleBytes = (example: ExampleBytes): Uint8Array =>
  typeof example === 'string'
    ? new TextEncoder().encode(example)
    : new Uint8Array(Buffer.from(example.base64, 'base64'));

/** The rule's answer to its own bad or good example, with the settings, claims and dry run that the example names. */
export async function runExample({ definition, examples }: PackRule, which: 'bad' | 'good'): Promise<ValidatorResult> {
  const ofGood = which === 'good' ? examples.goodSourceTool : undefined;
  const sourceTool = ofGood ?? examples.sourceTool ?? (definition.sourceTools === '*' ? '' : definition.sourceTools[0]);
  if (sourceTool === undefined || sourceTool === '')
    throw new Error(`${definition.implementation}: an example of no tool`);
  const raw = exampleBytes(examples[which]);
  const extract = EXTRACTORS[sourceTool];
  const none: Facts = { ok: true, kind: 'none', parser: { name: 'none', version: '1' } };
  const rows = examples.rows?.[which];
  if (definition.evaluate === null) throw new Error(`${definition.implementation} is not evaluated here`);
  const result = definition.evaluate(
    ruleInput({
      sourceTool,
      raw,
      facts: extract === undefined ? none : await extract(raw),
      config: definition.config.parse(examples.config ?? {}),
      metadata: examples.metadata?.[which],
      staging: rows === undefined ? null : updatedRows('public.orders', rows),
    }),
  );

  return ValidatorResult.parse(result);
}
