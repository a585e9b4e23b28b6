import type { TerraformResource } from '../../facts/terraform-facts';
import { memoizeByObject } from '../../../../policy/text/memoize';
import { member } from '../values';
import type { OwnPlaces } from './conditions';

/**
 * The accounts and regions of AWS in which a plan has resources already. An account is not otherwise shown: a new resource has
 * no ARN yet.
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
