import { Name } from '../../policy/contracts/diff';
import { ANY_TENANT } from '../../policy/evidence/predicates';
import { listOption, type Options } from '../options';
import { UsageError } from '../usage-error';

/** The tenants of `--tenant`, each once; undefined without it. */
export function tenantsOption(options: Options): readonly string[] | undefined {
  const tenants = listOption(options, '--tenant');
  const wrong = tenants?.find((tenant) => tenant !== ANY_TENANT && !Name.safeParse(tenant).success);
  if (wrong !== undefined)
    throw new UsageError(`--tenant: "${wrong}": expected 1 to 63 of A-Z a-z 0-9 . _ -, or * for all tenants`);
  return tenants === undefined ? undefined : [...new Set(tenants)];
}
