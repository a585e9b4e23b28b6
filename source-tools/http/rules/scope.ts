import { z } from 'zod';
import { globCovers } from '../../../policy/text/glob';
import { coversHost } from './define-http-rule';

export const Methods = z.array(z.string().regex(/^[A-Z]+$/, 'expected a method in upper case')).max(20);

export const Hosts = z
  .array(
    z
      .string()
      .min(1)
      .max(253)
      .regex(/^(?:\*\.)?[a-z0-9.:-]+$/, 'expected a host in lower case, or *.host for all its subdomains'),
  )
  .max(200);

export const Paths = z.array(z.string().startsWith('/').max(1000)).min(1).max(500);

export const Ports = z.array(z.int().min(1).max(65535)).max(20).default([80, 443]);

/** Requests by method, host and path. */
export const Scope = z.strictObject({
  methods: Methods.optional().describe('Any method if absent.'),
  hosts: Hosts.min(1),
  paths: Paths.optional().describe('Globs: * matches within a segment, ** across segments. Any path if absent.'),
});
export type Scope = z.infer<typeof Scope>;

export function covers(scope: Scope, method: string, host: string, path: string): boolean {
  if (scope.methods !== undefined && !scope.methods.includes(method)) return false;
  return coversHost(scope.hosts, host) && (scope.paths ?? ['/**']).some((glob) => globCovers(glob, path));
}
