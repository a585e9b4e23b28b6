import { z } from 'zod';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { coversAddress, coversAny, globs, planOf, terraformRule } from './define-terraform-rule';

const CREATE = { address: 'null_resource.x', actions: ['create'], after: {} };

const configuration = (root: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}): string =>
  planOf([CREATE], { configuration: { ...more, root_module: root } });

export const provisioner = terraformRule({
  name: 'terraform_provisioner',
  logicRevision: 3,
  defaultLevel: 'forbid',
  why: 'A provisioner runs commands on the machine that applies the plan, with its credentials.',
  examples: {
    bad: configuration({
      resources: [
        {
          address: 'null_resource.x',
          mode: 'managed',
          type: 'null_resource',
          name: 'x',
          provisioners: [{ type: 'local-exec' }],
        },
      ],
    }),
    good: configuration({
      resources: [{ address: 'null_resource.x', mode: 'managed', type: 'null_resource', name: 'x' }],
    }),
  },
  find: ({ provisioners }) =>
    provisioners.map(({ at, address, type }) => ({
      at,
      what: `${shown(address.slice(0, 300))} has a provisioner ${shown(type)}`,
    })),
});

/** Data sources that run a program or call a service during planning. */
const EXTERNAL = new Set([
  'external',
  'http',
  'shell_script',
  'local_command',
  'aws_lambda_invocation',
  'template_cloudinit_config',
]);

export const externalData = terraformRule({
  name: 'terraform_external_data',
  logicRevision: 4,
  defaultLevel: 'forbid',
  why: 'An external data source already ran its program during planning.',
  config: z.strictObject({
    except: globs(500, 200).default([]).describe('Globs of addresses to exclude.'),
  }),
  examples: {
    bad: configuration({ resources: [{ address: 'data.external.x', mode: 'data', type: 'external', name: 'x' }] }),
    good: configuration({ resources: [{ address: 'data.aws_region.x', mode: 'data', type: 'aws_region', name: 'x' }] }),
  },
  find: ({ dataSources, resources }, { except }) => {
    const read = resources.filter(({ mode }) => mode === 'data');
    const seen = new Set<string>();
    return [...dataSources, ...read].flatMap(({ at, address, type }): readonly Hit[] => {
      if (!EXTERNAL.has(type) || seen.has(address) || coversAddress(except, address)) return [];
      seen.add(address);
      return [{ at, what: `${shown(address.slice(0, 300))} runs a program or calls an external service` }];
    });
  },
});

export const sourcePin = terraformRule({
  name: 'terraform_source_pin',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'A source without a pinned version can resolve to different code at apply time.',
  config: z.strictObject({
    providers: z.boolean().default(true).describe('Whether providers must have a version constraint.'),
    sources: globs(500, 200)
      .nullable()
      .default(null)
      .describe('Globs of allowed module sources; null allows any pinned source.'),
  }),
  examples: {
    bad: configuration({ module_calls: { vpc: { source: 'git::https://example.com/vpc.git?ref=main', module: {} } } }),
    good: configuration({
      module_calls: { vpc: { source: 'terraform-aws-modules/vpc/aws', version_constraint: '5.1.2', module: {} } },
    }),
  },
  find: ({ modules, providers }, config) => [
    ...modules.flatMap(({ at, name, source, version }): readonly Hit[] => {
      if (source.startsWith('./') || source.startsWith('../')) return [];
      const moduleName = shown(name.slice(0, 200));
      if (config.sources !== null && !coversAny(config.sources, source))
        return [
          { at, what: `${moduleName} comes from ${shown(redactUser(source).slice(0, 200))}, which is not allowed` },
        ];
      const why = unpinned(source, version);
      return why === null ? [] : [{ at, what: `${moduleName} ${why}` }];
    }),
    ...(config.providers ? providers : []).flatMap(({ at, name, version }) =>
      version === null && !BUILT_IN.has(name)
        ? [{ at, what: `the provider ${shown(name.slice(0, 200))} has no version` }]
        : [],
    ),
  ],
});

const BUILT_IN = new Set(['terraform.io/builtin/terraform', 'terraform']);

/**
 * Why a module source is not pinned; null if it is. A registry module needs an exact version or a pessimistic constraint
 * (`~>`); any other remote source needs a commit.
 */
function unpinned(source: string, version: string | null): string | null {
  if (/^(?:[/~]|[a-z]:[\\/])/i.test(source)) return 'comes from a local folder of the machine that makes the plan';
  if (isRegistryModule(source))
    return version === null
      ? 'has no version'
      : /^\s*(?:=\s*)?v?\d|^\s*~>/.test(version.slice(0, 50))
        ? null
        : 'has a version that is only a lower bound';
  const query = source.indexOf('?');
  const ref = query === -1 ? null : new URLSearchParams(source.slice(query)).get('ref');
  // Only git reads `ref`; a web server can ignore it.
  if (ref === null || !/^git(?:::|@)|^(?:github\.com|bitbucket\.org)\//.test(source))
    return 'is fetched from a URL without a revision';
  return /^[0-9a-f]{40}$/.test(ref) ? null : 'is fetched by a branch or tag, which can move';
}

/** Whether the source names a module of a registry: a namespace, a name and a system, with or without a host before them. */
function isRegistryModule(source: string): boolean {
  if (/^(?:github\.com|bitbucket\.org)\//.test(source)) return false;
  return /^(?:[\w-]+(?:\.[\w-]+)+(?::\d+)?\/)?[\w-]+\/[\w-]+\/[\w-]+(?:\/\/.*)?$/.test(source);
}

/** Redacts the user information of a URL, which may contain a credential. An `@` after the host is not part of it. */
function redactUser(source: string): string {
  return source.replace(/:\/\/[^/?#]*@/, '://…@');
}
