import type { TerraformResource } from '../../facts/terraform-facts';
import { memoizeByObject } from '../../../../policy/text/memoize';
import { member } from '../values';
import type { OwnPlaces } from './conditions';

/**
 * The accounts and regions of AWS in which a plan has resources already. A plan does not show the account in another way: a new
 * resource does not have an ARN yet.
 */
export const ownPlaces = memoizeByObject((resources: readonly TerraformResource[]): OwnPlaces => {
  const [accounts, regions] = [new Set<string>(), new Set<string>()];
  for (const { mode, provider, importing, before } of resources) {
    if (mode !== 'managed' || importing || !provider.endsWith('/hashicorp/aws')) continue;
    const arn = member(before, 'arn');
    const [, , , region = '', account = ''] = typeof arn === 'string' ? arn.split(':') : [];
    if (/^\d{12}$/.test(account)) accounts.add(account);
    for (const name of [region, member(before, 'region')])
      if (typeof name === 'string' && name !== '') regions.add(name);
  }
  return { accounts, regions };
});
