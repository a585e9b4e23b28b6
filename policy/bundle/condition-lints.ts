import { staticResult, type StaticResult } from '../rules/condition/static-result';
import { problem, type Path, type Problem } from './issue';
import { isWithin, planKeys } from './plan-keys';
import type { Bundle, BundleEntry } from './schema';

/** Conditions that give the same for every change, or of which a part cannot do what it seems to do. */
export function conditionLints(bundle: Bundle): Problem[] {
  return bundle.validators.flatMap((entry, i) =>
    'condition' in entry ? lintsOf(bundle, entry, ['validators', i, 'condition', 'when']) : [],
  );
}

function lintsOf(bundle: Bundle, entry: Extract<BundleEntry, { readonly condition: unknown }>, path: Path): Problem[] {
  const { when } = entry.condition;
  const tools = new Set(planKeys(bundle).flatMap((key) => (isWithin(entry, key) ? [key.sourceTool] : [])));
  const results = [...tools].map((tool) => staticResult(when, tool));
  const problems = new Set(results.flatMap((each) => each.problems));
  return [
    ...[...problems].map((text) => problem(path, capitalized(text), 'Correct this part of the expression.')),
    ...constantLints(path, when, results),
  ];
}

function constantLints(path: Path, when: string, results: readonly StaticResult[]): Problem[] {
  const all = (result: StaticResult['result']): boolean =>
    results.length > 0 && results.every((each) => each.result === result);
  if (all(false))
    return [
      problem(path, 'The condition is never true, so it never fires', 'Correct the expression, or remove the entry.'),
    ];
  if (all('other'))
    return [
      problem(
        path,
        'The condition gives no true or false, so it blocks every change',
        'Write a comparison, such as diff.bytes > 1000.',
      ),
    ];
  // Who writes `true` means every change.
  if (all(true) && when.trim() !== 'true')
    return [
      problem(
        path,
        'The condition is true for every change',
        'Correct the expression, or write "true" if every change is meant.',
      ),
    ];
  return [];
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
