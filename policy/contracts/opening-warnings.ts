import type { Plan } from './plan';

/** Unsafe settings of a review, for people. Shared, so that workflow and clients show the same warnings. */
export function openingWarnings(
  plan: Plan,
  requester: { readonly known: boolean; readonly demo: boolean; readonly why?: string },
): string[] {
  const warnings: string[] = [];
  if (plan.answers === 'unsigned')
    warnings.push('Answers are NOT signed on this development target: anyone who can signal this workflow can answer');
  if (plan.mode === 'cooperative')
    warnings.push(
      'Cooperative: the requester performs the effect; Countersign cannot enforce that it applies these bytes, or only once',
    );
  if (!requester.known) {
    const why = requester.why === undefined ? '' : ` (${requester.why})`;
    warnings.push(`Requester unknown${why}: four eyes require two people`);
  }
  if (requester.known && requester.demo) warnings.push('Submitted with a demo key');
  if (plan.validators.some((v) => v.id === 'always-approve'))
    warnings.push('always-approve: this plan turns validation off');
  return warnings;
}
