import type { Facts } from '../../policy/contracts/facts';
import type { Metadata } from '../../policy/contracts/diff';
import { sha256Hex, sha256HexOfText } from '../../policy/contracts/hash';
import { stagingSha, type StagingRecord } from '../../policy/contracts/staging-record';
import type { SourceTool } from '../../policy/contracts/source-tool';
import type { ValidatorInput } from '../../policy/rules/define';
import { viewOf } from '../../policy/rules/tool-view';
import { ourTools, plainTool } from './source-tools';

export interface RuleInput {
  readonly sourceTool: string;
  readonly raw: Uint8Array;
  readonly facts: Facts;
  readonly config: unknown;
  readonly metadata?: Metadata | undefined;
  readonly staging?: StagingRecord | null | undefined;
}

/** The input of a rule, without a plan. */
export function ruleInput({
  sourceTool,
  raw,
  facts,
  config,
  metadata = {},
  staging = null,
}: RuleInput): ValidatorInput {
  const diff = { sourceTool, raw, diffSha: sha256Hex(raw), metadata };
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
    diff,
    inputSha: sha256HexOfText('input'),
    facts,
    tool: viewOf(toolOf(sourceTool, facts), facts, diff),
    staging: staging === null ? null : { record: staging, sha: stagingSha(staging) },
  };
}

/** Facts of kind "none" come from the plain tool, regardless of the diff's tool. */
function toolOf(sourceTool: string, facts: Facts): SourceTool {
  if (facts.ok && facts.kind === 'none') return plainTool;
  return ourTools.get(sourceTool) ?? plainTool;
}
