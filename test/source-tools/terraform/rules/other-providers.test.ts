import { isHeld } from './is-held';

describe('an address range in a resource whose type is not known', () => {
  const ANY = ['0.0.0.0/0'];
  const web = { inbound_rule: [{ port_range: '443', source_addresses: ANY }] };

  it.each([
    ['digitalocean_firewall.f', { inbound_rule: [{ port_range: '22', source_addresses: ANY }] }],
    ['hcloud_firewall.f', { rule: [{ direction: 'in', port: '80-443', source_ips: ['0.0.0.0/1', '128.0.0.0/1'] }] }],
    ['openstack_networking_secgroup_rule_v2.r', { port_range_min: 80, port_range_max: 443, remote_ip_prefix: '::/0' }],
    ['linode_firewall.f', { inbound_policy: 'DROP', inbound: [{ action: 'ACCEPT', ports: '22', ipv4: ANY }] }],
    ['awscc_ec2_security_group.g', { security_group_ingress: [{ cidr_ip: '0.0.0.0/0', from_port: 22, to_port: 22 }] }],
    ['azurerm_firewall_nat_rule_collection.c', { rule: [{ source_addresses: ['*'], destination_ports: ['22'] }] }],
    ['mongodbatlas_project_ip_access_list.l', { cidr_block: '128.0.0.0/1' }],
  ])('opens it to the internet: %s with %j', (address, after) => {
    expect(isHeld('terraform_open_ingress', address, null, after)).toBe(true);
    expect(isHeld('terraform_open_ingress', address, after, after)).toBe(false);
  });

  it.each([
    ['digitalocean_firewall.f', web],
    [
      'oci_core_security_list.l',
      { ingress_security_rules: [{ source: '0.0.0.0/0', tcp_options: [{ min: 443, max: 443 }] }] },
    ],
    ['hcloud_firewall.f', { rule: [{ direction: 'out', port: '22', destination_ips: ANY }] }],
    ['kubernetes_network_policy.n', { spec: [{ egress: [{ to: [{ ip_block: [{ cidr: '0.0.0.0/0' }] }] }] }] }],
    [
      'google_compute_network_firewall_policy_with_rules.p',
      { rule: [{ action: 'deny', match: [{ src_ip_ranges: ANY }] }] },
    ],
    ['aws_route_table.t', { route: [{ cidr_block: '0.0.0.0/0' }] }],
    ['aws_eks_cluster.c', { vpc_config: [{ endpoint_public_access: false, public_access_cidrs: ANY }] }],
    ['mongodbatlas_project_ip_access_list.l', { cidr_block: '203.0.113.0/24' }],
  ])('opens nothing if it is excepted, outgoing, denied or a route: %s with %j', (address, after) => {
    expect(isHeld('terraform_open_ingress', address, null, after)).toBe(false);
  });

  it('is found again if an update opens another port to it', () => {
    const ssh = { inbound_rule: [{ port_range: '22', source_addresses: ANY }] };
    expect(isHeld('terraform_open_ingress', 'digitalocean_firewall.f', web, ssh)).toBe(true);
    expect(
      isHeld('terraform_open_egress', 'hcloud_firewall.f', null, {
        rule: [{ direction: 'out', destination_ips: ANY }],
      }),
    ).toBe(true);
  });
});

describe('the right of an administrator in a resource whose type is not known', () => {
  it.each([
    ['github_repository_collaborators.c', { user: [{ username: 'm', permission: 'admin' }] }],
    ['gitlab_group_membership.m', { access_level: 'owner' }],
    ['vault_token_auth_backend_role.r', { allowed_policies: ['root'] }],
    ['postgresql_role.r', { superuser: true }],
    ['snowflake_grant_account_role.g', { role_name: 'ACCOUNTADMIN' }],
    ['mysql_grant.g', { privileges: ['ALL'] }],
    ['alicloud_ram_user_policy_attachment.a', { policy_name: 'AdministratorAccess' }],
  ])('is held: %s with %j', (address, after) => {
    expect(isHeld('terraform_iam_widening', address, null, after)).toBe(true);
    expect(isHeld('terraform_iam_widening', address, after, after)).toBe(false);
  });

  it.each([
    ['postgresql_grant.g', { role: 'app_ro', privileges: ['SELECT'] }],
    ['github_team_repository.r', { permission: 'pull' }],
    ['vault_kubernetes_auth_backend_role.r', { bound_service_account_names: ['api'], token_policies: ['app'] }],
    ['postgresql_database.d', { name: 'admin', owner: 'admin' }],
  ])('is not seen in %s with %j', (address, after) => {
    expect(isHeld('terraform_iam_widening', address, null, after)).toBe(false);
  });
});

describe('a word that makes a resource of an unknown type public', () => {
  it.each([
    ['digitalocean_spaces_bucket.b', { acl: 'public-read' }],
    ['oci_objectstorage_bucket.b', { access_type: 'ObjectRead' }],
    ['aws_other_database.d', { publicly_accessible: true }],
    ['aws_cognito_identity_pool.p', { allow_unauthenticated_identities: true }],
  ])('is held: %s with %j', (address, after) => {
    expect(isHeld('terraform_public_access', address, null, after)).toBe(true);
  });

  it.each([
    ['google_dns_managed_zone.z', { visibility: 'public' }],
    ['aws_subnet.s', { map_public_ip_on_launch: true }],
    ['oci_objectstorage_bucket.b', { access_type: 'NoPublicAccess' }],
  ])('is not seen in %s with %j', (address, after) => {
    expect(isHeld('terraform_public_access', address, null, after)).toBe(false);
  });
});
