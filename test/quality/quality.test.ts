import { CORPORA } from '../source-tools/sql/rules/support/corpus';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { figuresOf } from './judged';
import { CASES, measure, OWN_MEASURES, PUBLIC_MEASURES, readKept } from './measures';
import { PAGE } from './page';

const kept = readKept();
const measures = [...PUBLIC_MEASURES, ...OWN_MEASURES];

describe.each(measures.map((one) => [one.name, one] as const))('%s', (name, one) => {
  const path = join(one.own ? CASES : CORPORA, one.file);
  if (!existsSync(path)) {
    it.skip(`is not run: ${one.own ? 'test/quality/cases' : '../shared/corpora'}/${one.file} is absent`, () =>
      undefined);
    return;
  }

  it('has a written reason for each case that gets another verdict than its label, and no other reasons', async () => {
    const measured = await measure(one, kept);
    expect({ unexplained: measured?.unexplained, stale: measured?.stale }).toEqual({ unexplained: [], stale: [] });
  });

  it('is on the page with each of its reasons', () => {
    const page = readFileSync(PAGE, 'utf8');
    expect(page).toContain(`| ${name} |`);
    for (const [id, reason] of Object.entries(kept[name] ?? {}))
      expect(page.split('\n').some((line) => line.startsWith(`| \`${id}\` |`) && line.includes(reason))).toBe(true);
  });
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
