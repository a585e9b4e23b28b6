import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv, GatewayEnv } from '../../workers/config';
import { unknownVariables, variables, type EnvReader, type Variable } from '../../workers/process-env';
import { ROOT } from '../support/root';

const PROCESSES: readonly EnvReader[] = ['review', 'judge', 'committer', 'gateway'];
const WORKERS = PROCESSES.slice(0, 3);

function readers(readBy: readonly EnvReader[]): string {
  const names: string[] = [...readBy];
  for (const [all, group] of [
    ['processes', PROCESSES],
    ['workers', WORKERS],
  ] as const)
    if (group.every((each) => names.includes(each))) names.splice(names.indexOf(group[0] ?? ''), group.length, all);
  return names.join(', ');
}

const row = ({ name, readBy, fallback, required, meaning }: Variable): string =>
  `| \`${name}\` | ${readers(readBy)} | ${required ? 'required' : fallback === null ? '' : `\`${fallback}\``} | ${meaning} |`;

test('docs/operate.md has one row for each variable that a process or the CLI reads', () => {
  const page = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
  const section = page.slice(page.indexOf('\n## Configuration'), page.indexOf('\n### Targets'));
  const found = section.split('\n').filter((line) => /^\| `(COUNTERSIGN|OPENAI|LOG)_/.test(line));
  expect(found).toEqual(variables().map(row));
  expect(variables().filter(({ meaning }) => meaning === '')).toEqual([]);
});

const GATEWAY = { COUNTERSIGN_DATABASE_URL: 'postgres://db/countersign', COUNTERSIGN_TRUST_FILE: '/trust.json' };

test('a process refuses to start with an unknown variable, and names the nearest known one', () => {
  expect(readEnv(GatewayEnv, { ...GATEWAY, PATH: '/bin', TEMPORAL_ADDRESS: 'x:1' })).toMatchObject(GATEWAY);
  expect(() => readEnv(GatewayEnv, { ...GATEWAY, COUNTERSIGN_TRUSTFILE: '/other.json' })).toThrow(
    'COUNTERSIGN_TRUSTFILE: no process reads this variable; did you mean COUNTERSIGN_TRUST_FILE?',
  );
  expect(() => readEnv(GatewayEnv, { COUNTERSIGN_GATEWAY_PROT: '1' })).toThrow(
    /COUNTERSIGN_GATEWAY_PROT.*COUNTERSIGN_GATEWAY_PORT[^]*COUNTERSIGN_DATABASE_URL: is not set/,
  );
});

test('a variable of another process is known, since processes may share a file', () => {
  expect(unknownVariables({ COUNTERSIGN_TARGETS_FILE: '/t.json', COUNTERSIGN_KEYFILE: undefined })).toEqual([]);
});
