import { gzipSync } from 'node:zlib';
import { packDefinitions } from '../../../../source-tools';
import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const isHeld = (rule: string, address: string, before: object | null, after: object, more: object = {}): boolean => {
  const actions = [before === null ? 'create' : 'update'];
  const plan = planOf([{ address, actions, before, after, ...more }]);
  return runRule(packDefinitions, rule, plan).status !== 'ALLOW';
};

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
  ])('is held if it fetches a program: %s', (user_data) => {
    expect(isFound('aws_instance.i', { user_data })).toBe(true);
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
    expect(isFound('google_compute_project_metadata_item.m', { ...item, key: 'owner' })).toBe(false);
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
