import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli';
import { processHost } from '../../cli/host';

/** Every example of docs/policy.md: its files are written, its commands run by the real CLI, and its lines looked for. */
const PAGE = readFileSync(join(__dirname, '../../docs/policy.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'countersign-policy-page-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Command {
  readonly args: readonly string[];
  readonly code: number;
  readonly shown: readonly string[];
}

const files = new Map<string, string>();
const commands: Command[] = [];
for (const [, kind = '', name = '', body = ''] of PAGE.matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm)) {
  if (kind !== 'console') {
    files.set(name, body);
    continue;
  }
  for (const part of body.split(/^\$ countersign /m).filter((text) => text !== '')) {
    const [first = '', ...shown] = part.trimEnd().split('\n');
    const [command = '', code = '0'] = first.split(' # ');
    commands.push({ args: command.split(' '), code: Number(code), shown });
  }
}

async function run(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const sink = (take: (text: string) => void) => ({ write: (text: string) => take(text), isTTY: false });
  const host = {
    ...processHost('9.9.9', {}),
    now: () => new Date('2026-11-22T00:00:00Z'),
    stdout: sink((text) => (out += text)),
    stderr: sink((text) => (err += text)),
  };
  const code = await runCli(
    args.map((arg) => (files.has(arg) ? join(folder, arg) : arg)),
    host,
  );
  return { code, out: out.replaceAll(`${folder}/`, ''), err };
}

beforeAll(() => {
  for (const [name, body] of files) writeFileSync(join(folder, name), body);
});

test('the page has examples', () => expect(commands.length).toBeGreaterThan(7));

test.each(commands.map((command) => [command.args.join(' '), command] as const))(
  'countersign %s prints what docs/policy.md says, and ends with its exit code',
  async (_line, { args, code, shown }) => {
    const ran = await run(args);
    expect({ code: ran.code, err: ran.err.replace(/^no test makes .* fire.*\n/m, '') }).toEqual({ code, err: '' });
    let from = 0;
    for (const line of shown) {
      const at = ran.out.indexOf(line, from);
      expect({ line, found: at !== -1, out: at === -1 ? ran.out : '' }).toEqual({ line, found: true, out: '' });
      from = at + line.length;
    }
  },
  60_000,
);

describe('reports', () => {
  const explained = async (diff: string, format: string) =>
    run(['policy', 'explain', 'shop.policy.yaml', diff, '--at', '2026-11-22T00:00:00Z', '--format', format]);

  test('explain as SARIF 2.1.0: each result names a rule of the driver, a level of the format, a file and a region', async () => {
    const { code, out } = await explained('delete.sql', 'sarif');
    expect(code).toBe(8);
    const log = JSON.parse(out) as {
      version: string;
      runs: {
        tool: { driver: { name: string; rules: { id: string; shortDescription: { text: string } }[] } };
        results: {
          ruleId: string;
          ruleIndex: number;
          level: string;
          message: { text: string };
          locations: { physicalLocation: { artifactLocation: { uri: string }; region?: Record<string, number> } }[];
        }[];
      }[];
    };
    expect(log.version).toBe('2.1.0');
    const [first] = log.runs;
    expect(first?.tool.driver.name).toBe('countersign');
    expect(first?.results.map((r) => r.ruleId)).toContain('guardian.sql_delete_without_where');
    for (const result of first?.results ?? []) {
      expect(first?.tool.driver.rules[result.ruleIndex]?.id).toBe(result.ruleId);
      expect(['none', 'note', 'warning', 'error']).toContain(result.level);
      expect(result.message.text).not.toBe('');
      for (const { physicalLocation } of result.locations) {
        expect(physicalLocation.artifactLocation.uri).toMatch(/delete\.sql$/);
        for (const value of Object.values(physicalLocation.region ?? {})) expect(value).toBeGreaterThanOrEqual(1);
      }
    }
  });

  test('a waived finding is a suppressed note in SARIF, and nothing is lost in JSON', async () => {
    const sarif = await explained('reset.sql', 'sarif');
    expect(sarif.code).toBe(0);
    expect(sarif.out).toContain('"suppressions":[{"kind":"external","status":"accepted"');
    const json = JSON.parse((await explained('reset.sql', 'json')).out) as { findings: { waiver: unknown }[] };
    expect(json.findings[0]?.waiver).toMatchObject({ id: 'ops_7', reason: 'OPS-7, the yearly reset' });
  });

  test('what runs in the shadow is reported apart by explain and by eval, and changes no outcome', async () => {
    writeFileSync(join(folder, 'shadow.sql'), 'truncate orders cascade');
    files.set('shadow.sql', '');
    const json = JSON.parse((await explained('shadow.sql', 'json')).out) as {
      findings: { validatorId: string }[];
      shadow: { validatorId: string }[];
    };
    expect(json.shadow.map((f) => f.validatorId).join()).toMatch(/sql_cascade/);
    expect(json.findings.map((f) => f.validatorId).join()).not.toMatch(/sql_cascade/);
  });

  test('a bundle’s issues as SARIF, at their line and column', async () => {
    const { code, out } = await run(['policy', 'check', 'wrong.policy.yaml', '--format', 'sarif']);
    expect(code).toBe(1);
    const log = JSON.parse(out) as { runs: { results: { locations: object[] }[] }[] };
    expect(log.runs[0]?.results[0]?.locations).toMatchObject([{ physicalLocation: { region: { startLine: 11 } } }]);
  });

  test('tests as JUnit: a failed one is a failure with its problems, and marks of XML in a name are escaped', async () => {
    const name = 'a <delete> & "more"';
    writeFileSync(
      join(folder, 'failing.tests.yaml'),
      `tests:\n  - name: '${name}'\n    target: shop\n    sourceTool: SQLDryRun\n    raw: delete from t\n    expect: { outcome: COMMIT }\n`,
    );
    files.set('failing.tests.yaml', '');
    const { code, out } = await run(['policy', 'test', 'shop.policy.yaml', 'failing.tests.yaml', '--format', 'junit']);
    expect(code).toBe(1);
    expect(out).toContain('<testsuites tests="1" failures="1">');
    expect(out).toContain('name="a &lt;delete&gt; &amp; &quot;more&quot;"');
    expect(out).toContain('<failure message="expected COMMIT, got CONFIRM">');
  });

  test.each([
    [['policy', 'explain', 'shop.policy.yaml', 'delete.sql', '--format', 'junit']],
    [['policy', 'explain', 'shop.policy.yaml', 'delete.sql', '--json', '--format', 'sarif']],
    [['policy', 'explain', 'shop.policy.yaml', 'delete.sql', '--at', 'soon']],
    [['policy', 'test', 'shop.policy.yaml', 'shop.tests.yaml', '--format', 'sarif']],
  ])('%j is a usage error', async (args) => {
    const { code, out } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });
});
