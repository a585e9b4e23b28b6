import { MERGE, request } from '../../../../source-tools/http/rules/define-http-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const RULE = 'http_unlisted_request';
export const HOST = 'https://api.example.com';
export const HOSTS = { hosts: ['api.example.com'] };

export const run = (change: Readonly<Record<string, unknown>>, config: object = HOSTS) =>
  runRule(RULE, request(change), { config: { ...config } });
export const asks = (change: Readonly<Record<string, unknown>>, config: object = HOSTS): boolean =>
  run(change, config).status !== 'ALLOW';

export const merge = (body: unknown, path = '/v1/orders/17') => ({ url: HOST + path, contentType: MERGE, body });
