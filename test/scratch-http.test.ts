import { readFileSync } from 'node:fs';
import { starterEvaluator } from './quality/labelled';
import { fires } from '../policy/contracts/readings';
test('measure', async () => {
  const evaluate = starterEvaluator();
  const out: string[] = [];
  for (const file of (process.env['CASES'] ?? '').split(',')) {
    const cases = JSON.parse(readFileSync(file, 'utf8'));
    const n = { risky: 0, held: 0, ordinary: 0, alarms: 0 };
    for (const one of cases) {
      const raw = one.diff?.raw ?? (typeof one.raw === 'string' ? one.raw : JSON.stringify(one.raw));
      const { outcome, findings } = await evaluate({ sourceTool: 'HTTPPatch', raw, metadata: {} });
      const held = outcome !== 'COMMIT';
      if (one.label === 'risky') { n.risky++; if (held) n.held++; else out.push(`MISS ${one.id} | ${one.why} | ${raw.slice(0, 500)}`); }
      else { n.ordinary++; if (held) { n.alarms++; out.push(`ALARM ${one.id} | ${findings.filter(fires).map((f) => f.validator_id.replace('guardian.', '')).join(',')} | ${raw.slice(0, 400)}`); } else out.push(`ok ${one.id} | ${raw.slice(0, 300)}`); }
    }
    out.push(`${file} ${JSON.stringify(n)}`);
  }
  process.stdout.write(out.join('\n') + '\n');
}, 120000);
