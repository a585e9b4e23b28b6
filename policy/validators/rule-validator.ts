import type { DiffInput } from '../contracts/diff';
import { Severity, type Verdict } from '../contracts/verdict';
import { checkName, checkUnique, type Rule, type RulePlace, type RuleResult } from './rule';
import { ValidatorError, type Validator } from './validator';

/** A verdict with the places of its findings, which are not part of a verdict. */
export interface PlacedVerdict {
  readonly verdict: Verdict;
  readonly places: readonly RulePlace[];
  readonly total: number;
}

export interface RuleValidator extends Validator {
  /** Synchronous `validate`, with places. Throws ValidatorError. */
  readonly judge: (diff: DiffInput) => PlacedVerdict;
}

/**
 * Runs every rule in order, without short-circuiting. Approves only if all rules approve; `severity` is the worst of the
 * rules that failed; `score` is passed / total, or 1 without rules. `policyVersion` may be empty.
 * Throws TypeError if two rules have the same name.
 */
export function ruleValidator(name: string, policyVersion: string, ...rules: readonly Rule[]): RuleValidator {
  checkName('RuleValidator', name);
  for (const rule of rules) checkName(`Rule of "${name}",`, rule.name);
  checkUnique(
    `Rule of "${name}",`,
    rules.map((rule) => rule.name),
  );
  const own = [...rules];
  const judge = (diff: DiffInput): PlacedVerdict => judgeByRules(name, policyVersion, own, diff);
  return Object.freeze({
    name: () => name,
    judge,
    validate: (_context: unknown, diff: DiffInput) => Promise.resolve().then(() => judge(diff).verdict),
  });
}

function judgeByRules(name: string, policyVersion: string, rules: readonly Rule[], diff: DiffInput): PlacedVerdict {
  const thrown: unknown[] = [];
  const results = rules.map((rule): readonly [string, RuleResult] => [rule.name, applyRule(rule, diff, thrown)]);
  const failed = results.filter(([, result]) => !result.approved);
  const details = Object.fromEntries(results.map(([rule, result]) => [rule, toDetails(result)]));
  const verdict: Verdict = {
    approved: failed.length === 0,
    score: results.length === 0 ? 1 : (results.length - failed.length) / results.length,
    reason: failed.map(([rule, result]) => `${rule}: ${result.reason}`).join('; '),
    severity: worst(failed.map(([, result]) => result.severity)),
    details,
    validatorName: name,
    policyVersion,
  };
  if (thrown.length > 0) {
    const cause = thrown.length === 1 ? thrown[0] : new AggregateError(thrown, 'Several rules threw');
    throw new ValidatorError('ErrValidatorBackend', verdict.reason, {
      validatorName: name,
      policyVersion,
      details,
      cause,
    });
  }
  return {
    verdict,
    places: failed.flatMap(([, r]) => r.places ?? []),
    total: failed.reduce((n, [, r]) => n + (r.total ?? r.places?.length ?? 0), 0),
  };
}

/** A rule that throws or returns an invalid result fails with severity block, and the other rules still run. */
function applyRule(rule: Rule, diff: DiffInput, thrown: unknown[]): RuleResult {
  let result: RuleResult;
  try {
    result = rule.apply(diff);
  } catch (error) {
    thrown.push(error);
    return { approved: false, severity: 'block', reason: 'the rule threw' };
  }
  const shaped =
    typeof result === 'object' &&
    result !== null &&
    typeof result.approved === 'boolean' &&
    Severity.safeParse(result.severity).success;
  if (shaped) return result;
  thrown.push(
    new TypeError(`Rule "${rule.name}": expected {approved: boolean, reason, severity: 'warn' | 'block' | ''}`),
  );
  return { approved: false, severity: 'block', reason: 'the rule returned an invalid result' };
}

/** The worst severity of the rules that failed. An empty severity counts as warn. Without failed rules: empty. */
export function worst(severities: readonly Severity[]): Severity {
  if (severities.includes('block')) return 'block';
  return severities.length === 0 ? '' : 'warn';
}

function toDetails(result: RuleResult): Verdict['details'] {
  const own = (result.details ?? {}) as Verdict['details'];
  return { ...own, approved: result.approved, reason: result.reason, severity: result.severity };
}
