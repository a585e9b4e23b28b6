import type { DiffInput } from '../policy/contracts/diff';
import type { Touched } from '../policy/contracts/source-tool';
import { shown } from '../policy/text/shown-name';

/** Touched names of facts that do not record positions. Each evidence reference points to the whole diff. */
export function touchedNames(
  { touched }: { readonly touched: readonly Pick<Touched, 'kind' | 'schema' | 'name'>[] },
  { diffSha }: DiffInput,
): readonly Touched[] {
  return touched.map((one) => ({ ...one, text: shown(one.name), evidence: `diff:${diffSha}#` }));
}
