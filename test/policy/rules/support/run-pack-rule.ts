import { packDefinitions } from '../../../../source-tools';
import { extractGitPatchFacts } from '../../../../source-tools/git/facts/extract-git-facts';
import { extractHttpPatchFacts } from '../../../../source-tools/http/facts/extract-http-facts';
import { extractTerraformPlanFacts } from '../../../../source-tools/terraform/facts/extract-terraform-facts';
import type { Metadata } from '../../../../policy/contracts/diff';
import type { ValidatorResult } from '../../../../policy/contracts/finding';
import type { ValidatorInput } from '../../../../policy/rules/define';
import type { Facts } from '../../../../policy/contracts/facts';
import { ruleInput } from '../../../support/rule-input';

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
  return ruleInput({ sourceTool, raw: bytes, facts: factsOf(sourceTool, bytes), config, metadata });
}

/** A rule that we ship and that this process evaluates. Throws for an unknown name. */
export function ruleNamed(name: string) {
  const definition = packDefinitions.find((d) => d.implementation === name);
  if (definition?.evaluate == null) throw new Error(`rule ${name} does not exist`);
  return { ...definition, evaluate: definition.evaluate };
}

/** Runs a rule that we ship, with its settings parsed by its schema. */
export function runRule(name: string, raw: string | Uint8Array, options: PackRun = {}): ValidatorResult {
  const definition = ruleNamed(name);
  const tool = options.sourceTool ?? (definition.sourceTools === '*' ? undefined : definition.sourceTools[0]);
  const config = definition.config.parse(options.config ?? {});
  return definition.evaluate(inputOf(raw, { ...options, config, ...(tool === undefined ? {} : { sourceTool: tool }) }));
}

export const fires = (...args: Parameters<typeof runRule>): boolean => runRule(...args).status !== 'ALLOW';

/** Why a rule fires; null if it does not. */
export function firedReason(...args: Parameters<typeof runRule>): string | null {
  const { status, reason } = runRule(...args);
  return status === 'ALLOW' ? null : reason;
}
