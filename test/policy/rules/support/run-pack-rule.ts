import { extractGitPatchFacts } from '../../../../source-tools/git/facts/extract-git-facts';
import { extractHttpPatchFacts } from '../../../../source-tools/http/facts/extract-http-facts';
import { extractTerraformPlanFacts } from '../../../../source-tools/terraform/facts/extract-terraform-facts';
import type { Metadata } from '../../../../policy/contracts/diff';
import type { ValidatorResult } from '../../../../policy/contracts/finding';
import { sha256Hex } from '../../../../policy/contracts/hash';
import type { ValidatorDefinition, ValidatorInput } from '../../../../policy/rules/define';
import type { Facts } from '../../../../policy/contracts/facts';

const EXTRACTORS: Readonly<Record<string, (raw: Uint8Array) => Facts>> = {
  GitPatch: extractGitPatchFacts,
  HTTPPatch: extractHttpPatchFacts,
  TerraformPlan: extractTerraformPlanFacts,
};

const utf8 = new TextEncoder();

export const bytesOf = (raw: string | Uint8Array): Uint8Array => (typeof raw === 'string' ? utf8.encode(raw) : raw);

export function factsOf(sourceTool: string, raw: string | Uint8Array): Facts {
  const extract = EXTRACTORS[sourceTool];
  if (extract === undefined) return { ok: true, kind: 'none', parser: { name: 'none', version: '1' } } as Facts;
  return extract(bytesOf(raw));
}

export interface PackRun {
  readonly sourceTool?: string;
  readonly config?: unknown;
  readonly metadata?: Metadata;
}

export function inputOf(
  raw: string | Uint8Array,
  { sourceTool = 'GitPatch', config = {}, metadata = {} }: PackRun = {},
): ValidatorInput {
  const bytes = bytesOf(raw);
  return {
    signature: {
      validator_id: 'guardian.test',
      validator_version: 'v1',
      logic_hash: '0'.repeat(64),
      class: 'POLICY',
      deterministic: true,
    },
    phase: 'preflight',
    config,
    diff: { sourceTool, raw: bytes, diffSha: sha256Hex(bytes), metadata },
    inputSha: sha256Hex(utf8.encode('input')),
    facts: factsOf(sourceTool, bytes),
    staging: null,
  };
}

/** The rule's answer, with its settings read through its own schema. */
export function runRule(
  pack: readonly ValidatorDefinition[],
  name: string,
  raw: string | Uint8Array,
  options: PackRun = {},
): ValidatorResult {
  const definition = pack.find((d) => d.implementation === name);
  if (definition?.evaluate == null) throw new Error(`no rule ${name}`);
  const tool = options.sourceTool ?? (definition.sourceTools === '*' ? undefined : definition.sourceTools[0]);
  const config = definition.config.parse(options.config ?? {});
  return definition.evaluate(inputOf(raw, { ...options, config, ...(tool === undefined ? {} : { sourceTool: tool }) }));
}
