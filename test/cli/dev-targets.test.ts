import { devTargets } from '../../cli/servers/dev-targets';
import { starterBundle } from '../../source-tools/starter-bundle';
import { ConfigError } from '../../workers/config-error';

const bundle = (targets: string): string =>
  starterBundle('SQLDryRun').replace(/targets:\n(?: .*\n)+/, `targets: ${targets}\n`);

it('dev sets up each target of the policy once', () => {
  const targets = devTargets(bundle('{ shop: { sourceTools: [SQLDryRun, SQLCAS] }, live: { sourceTools: [SQLCAS] } }'));
  expect(targets).toEqual({
    names: ['shop', 'live'],
    example: { target: 'shop', sourceTool: 'SQLDryRun' },
    notApplied: [],
  });
});

it('dev names a change that it can apply, and says which it cannot', () => {
  const targets = devTargets(bundle('{ docs: { sourceTools: [GitPatch] }, shop: { sourceTools: [SQLCAS] } }'));
  expect(targets.example).toEqual({ target: 'shop', sourceTool: 'SQLCAS' });
  expect(targets.notApplied).toEqual([{ target: 'docs', sourceTool: 'GitPatch' }]);
  expect(devTargets(bundle('{ docs: { sourceTools: [GitPatch] } }')).example.target).toBe('docs');
});

it.each([
  [
    'the name of a database of the servers',
    bundle('{ countersign: { sourceTools: [SQLCAS] } }'),
    /^targets\.countersign: /,
  ],
  ['no target', bundle('{}'), /targets/],
  ['a text that is not a bundle', 'version: 1', /^Invalid policy bundle/],
])('dev refuses a policy with %s before it starts anything', (_what, text, message) => {
  expect(() => devTargets(text)).toThrow(ConfigError);
  expect(() => devTargets(text)).toThrow(message);
});
