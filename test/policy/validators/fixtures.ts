import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { DiffInput } from '../../../policy/contracts/diff';
import { sha256Hex } from '../../../policy/contracts/hash';
import type { Verdict } from '../../../policy/contracts/verdict';
import type { Validator } from '../../../policy/validators/validator';

/** A diff with this text; `metadata` is the caller's claim. */
export function diffOf(text: string, metadata: DiffInput['metadata'] = {}, sourceTool = 'SQLDryRun'): DiffInput {
  const raw = utf8ToBytes(text);
  return { sourceTool, raw, diffSha: sha256Hex(raw), metadata };
}

export function verdictOf(name: string, verdict: Partial<Verdict> = {}): Verdict {
  return {
    approved: true,
    score: 1,
    reason: '',
    severity: '',
    details: {},
    validatorName: name,
    policyVersion: '',
    ...verdict,
  };
}

/** A validator that always returns one verdict or rejects, and counts its calls. */
export function scripted(name: string, answer: Partial<Verdict> | Error): Validator & { readonly calls: () => number } {
  let calls = 0;
  return {
    name: () => name,
    calls: () => calls,
    validate: () => {
      calls += 1;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(verdictOf(name, answer));
    },
  };
}
