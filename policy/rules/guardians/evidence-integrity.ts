import { z } from 'zod';
import type { JsonValue } from '../../contracts/canonical-json';
import type { RuleOutcome, ValidatorInput } from '../define';
import { metadataEvidence } from '../../contracts/facts';
import { defineGuardian } from './define-guardian';
import { pointerOf } from '../../text/json-pointer';

const Kind = z.enum(['string', 'number', 'boolean', 'array', 'object']);

const Config = z.strictObject({
  required: z
    .record(z.string().min(1).max(128), Kind)
    .refine((required) => Object.keys(required).length > 0, 'expected at least one member')
    .describe('Members that the metadata must have, each with its JSON type.'),
  references: z
    .array(z.string().min(1).max(128))
    .max(20)
    .default(['evidenceRefs'])
    .describe('Members that contain evidence references. Each reference must point into this change.'),
});
type Config = z.infer<typeof Config>;

/**
 * Checks the evidence in the metadata of a submission. A missing required member only warns, because its source may be
 * unavailable. A member of another type, or a reference to another change or outside the diff, blocks.
 */
export const evidenceIntegrity = defineGuardian({
  name: 'evidence_integrity',
  logicRevision: 2,
  config: Config,
  phase: 'preflight',
  reads: ['bytes', 'metadata'],
  why: 'Evidence that is missing or refers to something else does not support the change.',
  apply,
});

interface Fault {
  readonly reason: string;
  readonly member: string;
  readonly missing: boolean;
}

function apply({ config, diff, inputSha }: ValidatorInput<Config>): RuleOutcome {
  const faults: Fault[] = [];
  for (const [member, kind] of Object.entries(config.required)) {
    if (!Object.hasOwn(diff.metadata, member))
      faults.push({ member, missing: true, reason: `metadata has no "${member}"` });
    else if (kindOf(diff.metadata[member]) !== kind)
      faults.push({ member, missing: false, reason: `metadata "${member}" is not of type ${kind}` });
  }
  const lines = lineLengths(diff.raw);
  for (const member of config.references) {
    if (!Object.hasOwn(diff.metadata, member)) continue;
    const problem = referenceProblem(diff.metadata[member], diff.diffSha, inputSha, lines);
    if (problem !== null) faults.push({ member, missing: false, reason: `metadata "${member}" ${problem}` });
  }
  if (faults.length === 0) return { fires: false };
  const onlyMissing = faults.every((fault) => fault.missing);
  return {
    fires: true,
    status: onlyMissing ? 'WARN' : 'BLOCK',
    reason: faults.map((fault) => fault.reason).join('; '),
    reasonCode: onlyMissing ? 'evidence_missing' : 'evidence_contradicted',
    evidence: [...new Set(faults.map((fault) => metadataEvidence(inputSha, pointerOf([fault.member]))))],
  };
}

function kindOf(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

const DIFF_SPAN = /^diff:([0-9a-f]{64})#L([0-9]{1,7}):C([0-9]{1,7})-L([0-9]{1,7}):C([0-9]{1,7})$/;
const OTHER = /^(diff|metadata):([0-9a-f]{64})#(\/.*)?$/;

function referenceProblem(
  value: JsonValue | undefined,
  diffSha: string,
  inputSha: string,
  lines: readonly number[],
): string | null {
  if (!Array.isArray(value) || value.length > 1000) return 'is not a list of references';
  for (const [i, ref] of value.entries()) {
    if (typeof ref !== 'string') return `item ${i} is not a reference`;
    const span = DIFF_SPAN.exec(ref);
    const other = OTHER.exec(ref);
    if (span !== null) {
      const [, sha, ...numbers] = span;
      if (sha !== diffSha) return `item ${i} points into another diff`;
      if (!spanResolves(numbers.map(Number), lines)) return `item ${i} points outside the diff`;
    } else if (other === null) return `item ${i} is not a reference to the diff or the metadata`;
    else if (other[2] !== (other[1] === 'diff' ? diffSha : inputSha)) return `item ${i} points into another change`;
  }
  return null;
}

function spanResolves(numbers: readonly number[], lines: readonly number[]): boolean {
  const [startLine = 0, startColumn = 0, endLine = 0, endColumn = 0] = numbers;
  const inside = (line: number, column: number): boolean =>
    line >= 1 && column >= 1 && line <= lines.length && column <= (lines[line - 1] ?? 0) + 1;
  return (
    inside(startLine, startColumn) &&
    inside(endLine, endColumn) &&
    (endLine > startLine || (endLine === startLine && endColumn >= startColumn))
  );
}

function lineLengths(raw: Uint8Array): number[] {
  return new TextDecoder('utf-8', { ignoreBOM: true })
    .decode(raw)
    .split('\n')
    .map((line) => line.length);
}
