import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SearchSteps, findTemporal } from '../../../dev/embedded/temporal-cli';
import { TEMPORAL_CLI_VERSION, temporalVersion } from '../../../dev/embedded/installed-temporal-cli';

let dir: string;
let logged: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
  logged = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const say = (line: string): void => void logged.push(line);

/** A file that answers `--version` as the CLI does, or (broken) as nothing we know. */
function program(path: string, broken = false): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho ${broken ? 'something else' : 'temporal version 9.9.9 \\(Server 9\\)'}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Everything is there; each test takes away what comes before the step that it is about. */
function everything(): { env: Record<string, string>; onPath: string; cached: string } {
  const onPath = program(join(dir, 'bin', 'temporal'));
  const cached = program(join(dir, 'cache', `temporal-${TEMPORAL_CLI_VERSION}`));
  const named = program(join(dir, 'named'));
  const env = {
    TEMPORAL_ADDRESS: 'example:7233',
    COUNTERSIGN_TEMPORAL_CLI: named,
    PATH: `${join(dir, 'bin')}:/usr/bin:/bin`,
    COUNTERSIGN_CACHE: join(dir, 'cache'),
  };
  return { env, onPath, cached };
}

/** Steps that note that they were asked; `verify` is the real one. */
function steps(results: { download?: string; build?: string } = {}): SearchSteps & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    verify: temporalVersion,
    download: async () => (asked.push('download'), results.download),
    build: async () => (asked.push('build'), results.build),
  };
}

it('prefers the server of TEMPORAL_ADDRESS, and still finds a CLI', async () => {
  const { env } = everything();
  const noSteps = steps();
  const found = await findTemporal(say, env, noSteps);
  expect(found).toEqual({ kind: 'address', address: 'example:7233', cliPath: env['COUNTERSIGN_TEMPORAL_CLI'] });
  expect(noSteps.asked).toEqual([]);
});

it('prefers a named CLI, then PATH, then the cache, then download, then build', async () => {
  const { env, onPath, cached } = everything();
  const { TEMPORAL_ADDRESS: _address, ...local } = env;
  expect(await findTemporal(say, local, steps())).toMatchObject({
    from: 'environment',
    cliPath: env['COUNTERSIGN_TEMPORAL_CLI'],
  });
  const { COUNTERSIGN_TEMPORAL_CLI: _named, ...unnamed } = local;
  expect(await findTemporal(say, unnamed, steps())).toMatchObject({ from: 'path', cliPath: onPath });
  const offPath = { ...unnamed, PATH: '/usr/bin:/bin' };
  expect(await findTemporal(say, offPath, steps())).toMatchObject({ from: 'cache', cliPath: cached });
  rmSync(cached);
  const other = program(join(dir, 'other'));
  expect(await findTemporal(say, offPath, steps({ download: other }))).toMatchObject({
    from: 'download',
    cliPath: other,
  });
  const both = steps({ build: other });
  expect(await findTemporal(say, offPath, both)).toMatchObject({ from: 'build', cliPath: other });
  expect(both.asked).toEqual(['download', 'build']);
});

it('explains once how to get a server if nothing works', async () => {
  const env = { PATH: '/nowhere', COUNTERSIGN_CACHE: join(dir, 'empty') };
  await expect(findTemporal(say, env, steps())).rejects.toThrow(/TEMPORAL_ADDRESS[\s\S]*Go 1\.25/);
});

it('refuses a named CLI that does not run, instead of silently using another', async () => {
  const { env } = everything();
  const wrong = { ...env, COUNTERSIGN_TEMPORAL_CLI: join(dir, 'missing') };
  await expect(findTemporal(say, wrong, steps())).rejects.toThrow('COUNTERSIGN_TEMPORAL_CLI names');
});

it('ignores a `temporal` on PATH and a file in the cache that are other programs', async () => {
  const { env, onPath, cached } = everything();
  const { TEMPORAL_ADDRESS: _address, COUNTERSIGN_TEMPORAL_CLI: _named, ...local } = env;
  program(onPath, true);
  program(cached, true);
  const built = program(join(dir, 'built'));
  expect(
    await findTemporal(say, local, steps({ download: program(join(dir, 'bad'), true), build: built })),
  ).toMatchObject({ from: 'build' });
  expect(logged.join('\n')).toContain('ignoring it');
});
