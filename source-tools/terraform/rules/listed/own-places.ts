import type { TerraformResource } from '../../facts/terraform-facts';
import { memoizeByObject } from '../../../../policy/text/memoize';
import { member } from '../values';
import type { OwnPlaces } from './conditions';

/** Providers whose resources show where they are. */
const PROVIDERS = /\/hashicorp\/(?:aws|azurerm|google|google-beta)$/;

/**
 * The accounts of AWS, the projects of Google, and the regions in which a plan has resources already. A plan does not show the
 * own account or project in another way: the configuration of a provider is what the change may have set.
 */
export const ownPlaces = memoizeByObject((resources: readonly TerraformResource[]): OwnPlaces => {
  const own = { accounts: new Set<string>(), projects: new Set<string>(), regions: new Set<string>() };
  for (const { mode, provider, importing, before } of resources) {
    if (mode !== 'managed' || importing || !PROVIDERS.test(provider)) continue;
    const arn = member(before, 'arn');
    const [, , , ofArn = '', account = ''] = typeof arn === 'string' ? arn.split(':') : [];
    if (/^\d{12}$/.test(account)) own.accounts.add(account);
    const project = member(before, 'project');
    if (typeof project === 'string' && project !== '') own.projects.add(project);
    for (const region of [ofArn, ...['region', 'zone', 'location'].map((name) => member(before, name))])
      if (typeof region === 'string' && region !== '') own.regions.add(regionOf(region));
  }
  return own;
});

/** The region of a region or a zone: `europe-west1` of a link to `europe-west1-b`, `westeurope` of `West Europe`. */
export function regionOf(place: string): string {
  return place
    .slice(place.lastIndexOf('/') + 1)
    .toLowerCase()
    .replaceAll(' ', '')
    .replace(/-[a-z]$/, '');
}
