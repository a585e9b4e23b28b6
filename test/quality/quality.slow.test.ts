import { readFileSync } from 'node:fs';
import { withCorpus } from '../source-tools/sql/rules/support/corpus';
import { figuresOf, type Measure } from './judged';
import { measure, OWN_MEASURES, PUBLIC_MEASURES, readKept } from './measures';
import { PAGE } from './page';

const kept = readKept();
const measures = [...PUBLIC_MEASURES, ...OWN_MEASURES];

function checkReasons(one: Measure): void {
  it('has a written reason for each case that gets another verdict than its label, and no other reasons', async () => {
    const measured = await measure(one, kept);
    expect({ unexplained: measured?.unexplained, stale: measured?.stale }).toEqual({ unexplained: [], stale: [] });
  });

  it('is on the page with each of its reasons', () => {
    const lines = readFileSync(PAGE, 'utf8').split('\n');
    expect(lines.some((line) => line.startsWith(`| ${one.name} |`))).toBe(true);
    for (const [id, reason] of Object.entries(kept[one.name] ?? {}))
      expect(lines.some((line) => line.startsWith(`| \`${id}\` |`) && line.includes(reason))).toBe(true);
  });
}

describe.each(PUBLIC_MEASURES.map((one) => [one.name, one] as const))('%s', (_, one) => {
  withCorpus(one.file, () => checkReasons(one));
});

describe.each(OWN_MEASURES.map((one) => [one.name, one] as const))('%s', (_, one) => {
  checkReasons(one);
});

it('keeps reasons only for corpora and sets that are measured', () => {
  expect(Object.keys(kept).filter((name) => !measures.some((one) => one.name === name))).toEqual([]);
});

it('counts detection among risky cases, false alarms among ordinary ones, and lists both kinds of disagreement', () => {
  const one = (id: string, expected: 'held' | 'passed', actual: 'held' | 'passed') => ({
    id,
    expected,
    actual,
    what: '',
  });
  const judged = [
    one('a', 'held', 'held'),
    one('b', 'held', 'passed'),
    one('c', 'passed', 'passed'),
    one('d', 'passed', 'held'),
  ];
  expect(figuresOf({ judged, notCompared: 2 })).toMatchObject({
    risky: 2,
    detected: 1,
    ordinary: 2,
    falseAlarms: 1,
    notCompared: 2,
    disagreements: [{ id: 'b' }, { id: 'd' }],
  });
});
