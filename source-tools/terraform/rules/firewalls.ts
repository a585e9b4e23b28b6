import { wordSet } from '../../../policy/text/word-list';
import type { TerraformResource } from '../facts/terraform-facts';
import { ALL, isPing, PING, portRange, readerOf, type Opening, type PortRange, type Reader } from './firewall-reader';
import { otherRanges } from './other-firewalls';
import { INTERNET_TYPES } from './public-settings';
import { admitsOnlyTags, hidesBelow, type Path } from './values';

export type Direction = 'ingress' | 'egress';

/** The types whose rules are read exactly. Of any other type, only visible address ranges are read. */
const FIREWALL_TYPES = wordSet(`
  aws_security_group aws_default_security_group aws_security_group_rule aws_vpc_security_group_ingress_rule
  aws_vpc_security_group_egress_rule aws_network_acl aws_default_network_acl aws_network_acl_rule aws_db_security_group
  aws_redshift_security_group aws_ec2_managed_prefix_list aws_ec2_managed_prefix_list_entry
  aws_lightsail_instance_public_ports google_compute_firewall google_compute_firewall_policy_rule
  google_compute_network_firewall_policy_rule google_compute_region_network_firewall_policy_rule
  azurerm_network_security_rule azurerm_network_security_group
`);

/** The rules of a resource that allow traffic in this direction. */
export function openingsOf(r: TerraformResource, direction: Direction): readonly Opening[] {
  if (!FIREWALL_TYPES.has(r.type)) return INTERNET_TYPES.has(r.type) ? [] : otherOpenings(r, direction);
  const reader = readerOf(r);
  switch (r.type) {
    case 'google_compute_firewall':
      return googleOpenings(reader, direction);
    case 'google_compute_firewall_policy_rule':
    case 'google_compute_network_firewall_policy_rule':
    case 'google_compute_region_network_firewall_policy_rule':
      return googlePolicyOpenings(reader, direction);
    case 'azurerm_network_security_rule':
      return azureOpenings(reader, direction, []);
    case 'azurerm_network_security_group':
      return reader.blocks([], 'security_rule', (path) => azureOpenings(reader, direction, path));
    default:
      return awsOpenings(reader, direction);
  }
}

/** Openings of a resource whose type is not known, such as a firewall of a smaller provider. */
function otherOpenings(r: TerraformResource, direction: Direction): readonly Opening[] {
  return otherRanges(r)
    .filter(({ egress }) => egress === (direction === 'egress'))
    .map(({ path, rule, ports }) => ({
      path,
      rule,
      ranges: [path],
      everyone: false,
      ports: ports?.map((port): PortRange => [port, port]) ?? [ALL],
      hidden: null,
    }));
}

/** Protocols with ports. AWS ignores the ports of a rule for any other protocol. */
const WITH_PORTS = new Set(['tcp', '6', 'udp', '17']);

function awsPorts({ r, at }: Reader, path: Path): readonly PortRange[] {
  if (['protocol', 'ip_protocol'].some((name) => hidesBelow(r, [...path, name]))) return [ALL];
  const protocol = String(at(path, 'protocol') ?? at(path, 'ip_protocol') ?? '').toLowerCase();
  if (isPing(protocol)) return [PING];
  return [WITH_PORTS.has(protocol) ? portRange(at(path, 'from_port'), at(path, 'to_port')) : ALL];
}

const CIDRS = ['cidr_blocks', 'ipv6_cidr_blocks'];
const ACL_CIDRS = ['cidr_block', 'ipv6_cidr_block'];
const LIGHTSAIL_CIDRS = ['cidrs', 'ipv6_cidrs'];

function awsOpenings(reader: Reader, direction: Direction): readonly Opening[] {
  const { r, canBe, opening, namesNone, blocks } = reader;
  const one = (path: Path, names: readonly string[]): Opening => opening(path, names, awsPorts(reader, path));
  switch (r.type) {
    case 'aws_security_group':
    case 'aws_default_security_group':
      return blocks([], direction, (path) => [one(path, CIDRS)]);
    case 'aws_security_group_rule':
      return canBe([], 'type', direction) ? [one([], CIDRS)] : [];
    case 'aws_vpc_security_group_ingress_rule':
    case 'aws_vpc_security_group_egress_rule':
      return r.type.includes(direction) ? [one([], ['cidr_ipv4', 'cidr_ipv6'])] : [];
    case 'aws_network_acl':
    case 'aws_default_network_acl':
      // The default list admits everything before Terraform manages it.
      if (r.type === 'aws_default_network_acl' && r.action === 'create') return [];
      return blocks([], direction, (path) => (canBe(path, 'action', 'allow') ? [one(path, ACL_CIDRS)] : []));
    case 'aws_network_acl_rule':
      if (!canBe([], 'egress', String(direction === 'egress'), 'false')) return [];
      return canBe([], 'rule_action', 'allow') ? [one([], ACL_CIDRS)] : [];
  }
  if (direction === 'egress') return [];
  switch (r.type) {
    case 'aws_ec2_managed_prefix_list':
      return blocks([], 'entry', (path) => [opening(path, ['cidr'], [ALL])]);
    case 'aws_ec2_managed_prefix_list_entry':
      return [opening([], ['cidr'], [ALL])];
    case 'aws_lightsail_instance_public_ports':
      return blocks([], 'port_info', (path) => [
        { ...one(path, LIGHTSAIL_CIDRS), everyone: namesNone(path, [...LIGHTSAIL_CIDRS, 'cidr_list_aliases']) },
      ]);
    default:
      // aws_db_security_group and aws_redshift_security_group have no ports.
      return blocks([], 'ingress', (path) => [opening(path, ['cidr'], [ALL])]);
  }
}

function googleOpenings(reader: Reader, direction: Direction): readonly Opening[] {
  const { r, at, canBe, portsOf, opening, namesNone, blocks } = reader;
  if (!canBe([], 'direction', direction, 'ingress') || at([], 'disabled') === true) return [];
  if (direction === 'ingress' && admitsOnlyTags(r)) return [];
  const name = direction === 'ingress' ? 'source_ranges' : 'destination_ranges';
  const others = direction === 'ingress' ? ['source_tags', 'source_service_accounts'] : ['source_ranges'];
  return blocks([], 'allow', (path) => {
    const ports = portsOf(path, ['ports'], isPing(at(path, 'protocol')) ? PING : ALL);
    return [{ ...opening([], [name], ports), path: [name], everyone: namesNone([], [name, ...others]) }];
  });
}

function googlePolicyOpenings(reader: Reader, direction: Direction): readonly Opening[] {
  const { at, canBe, portsOf, opening, blocks } = reader;
  if (!canBe([], 'direction', direction) || !canBe([], 'action', 'allow') || at([], 'disabled') === true) return [];
  const name = direction === 'ingress' ? 'src_ip_ranges' : 'dest_ip_ranges';
  return blocks([], 'match', (match) =>
    blocks(match, 'layer4_configs', (path) => {
      const ports = portsOf(path, ['ports'], isPing(at(path, 'ip_protocol')) ? PING : ALL);
      return [{ ...opening(match, [name], ports), rule: [] }];
    }),
  );
}

function azureOpenings({ at, canBe, portsOf, opening }: Reader, direction: Direction, path: Path): readonly Opening[] {
  if (!canBe(path, 'direction', direction === 'ingress' ? 'inbound' : 'outbound')) return [];
  if (!canBe(path, 'access', 'allow')) return [];
  const prefix = direction === 'ingress' ? 'source_address_prefix' : 'destination_address_prefix';
  const isIcmp = isPing(at(path, 'protocol'));
  const ports = isIcmp ? [PING] : portsOf(path, ['destination_port_range', 'destination_port_ranges']);
  return [opening(path, [prefix, `${prefix}es`], ports)];
}
