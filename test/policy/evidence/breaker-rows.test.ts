import { BREAKER_PARAMETERS as P } from '../../../policy/decide/breaker';
import { foldBreakers, RESET_FRESH_MS, type BreakerRow } from '../../../policy/evidence/breaker-rows';
import { packBreakers, viewAt } from '../../../policy/decide/breakers';
import type { BreakerReset } from '../../../policy/evidence/predicates';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const ID = 'guardian.held';
const OTHER = 'guardian.other';
const change = (n: number): string => n.toString(16).padStart(4, '0').padEnd(64, 'c');

const sample = (n: number, kind = 'failure', ids = [ID]): BreakerRow => ({
  kind: 'sample',
  changeId: change(n),
  body: JSON.stringify(Object.fromEntries(ids.map((id) => [id, kind]))),
  at: NOW + n,
});
const failures = (ids?: string[]) => Array.from({ length: 10 }, (_, n) => sample(n, 'failure', ids));
const probe = (n: number, at: number): BreakerRow => ({
  kind: 'probe',
  changeId: change(n),
  body: JSON.stringify([ID]),
  at,
});
const reset = (more: Partial<BreakerReset> = {}, at = NOW + 20): BreakerRow => ({
  kind: 'reset',
  changeId: null,
  body: JSON.stringify({
    tenant: 'acme',
    sourceTool: 'SQLDryRun',
    validatorId: null,
    reason: 'repaired',
    keyId: change(9),
    issuedAt: new Date(NOW + 20).toISOString(),
    ...more,
  }),
  at,
});
const signed = (body: unknown) => body as BreakerReset;

function states(rows: readonly BreakerRow[], by: typeof signed | (() => null) = signed): Record<string, string> | null {
  const breakers = foldBreakers(rows, P, by);
  return breakers && Object.fromEntries(viewAt(breakers, NOW + 30, P).map((v) => [v.validatorId, v.state]));
}

test('breakers follow from samples, probes and resets in the order of their rows', () => {
  expect(states([])).toEqual({});
  expect(states(failures())).toEqual({ [ID]: 'open' });
  expect(states([...failures(), sample(0, 'success')])).toEqual({ [ID]: 'open' });
  expect(states([...failures(), reset()])).toEqual({});
  const later = NOW + P.openMs + 100;
  expect(states([...failures(), probe(50, later), { ...sample(50, 'success'), at: later + 1 }])).toEqual({
    [ID]: 'closed',
  });
  expect(states([...failures(), { ...sample(50, 'success'), at: later + 1 }])).toEqual({ [ID]: 'open' });
});

test('a reset closes one breaker or all, and is ignored if no trusted operator signed it', () => {
  const both = failures([ID, OTHER]);
  expect(states([...both, reset({ validatorId: ID })])).toEqual({ [OTHER]: 'open' });
  expect(states([...both, reset()])).toEqual({});
  expect(states([...both, reset()], () => null)).toEqual({ [ID]: 'open', [OTHER]: 'open' });
});

test('a copy of an old reset closes nothing, and a reset counts once', () => {
  expect(states([...failures(), reset({}, NOW + 20 + RESET_FRESH_MS + 1)])).toEqual({ [ID]: 'open' });
  const again = Array.from({ length: 10 }, (_, n) => sample(100 + n));
  expect(states([...failures(), reset(), ...again, reset({}, NOW + 200)])).toEqual({ [ID]: 'open' });
});

test.each<readonly [string, Partial<BreakerRow>]>([
  ['text that is not JSON', { body: '{' }],
  ['an unknown sample', { body: JSON.stringify({ [ID]: 'fine' }) }],
  ['a key that is not an id', { body: JSON.stringify({ 'approved by alice': 'success' }) }],
  ['no change', { changeId: 'mallory' }],
  ['an unknown kind', { kind: 'approval' }],
  [
    'a state that refers to an unknown review',
    { kind: 'state', body: '{"v":1,"seen":[],"reviews":[],"closed":{"a":[7]},"open":{}}' },
  ],
  ['a probe of no breaker', { kind: 'probe', body: '[]' }],
])('a row with %s makes all breakers unknown until an operator resets all of them', (_what, over) => {
  const rows = [sample(1), { ...sample(2), ...over }];
  expect(states(rows)).toBeNull();
  expect(states([...rows, reset({ validatorId: ID })])).toBeNull();
  expect(states([...rows, sample(3, 'success')])).toBeNull();
  expect(states([...rows, reset()])).toEqual({});
});

test('a row `state` replaces the rows before it', () => {
  const breakers = foldBreakers(failures(), P, signed);
  if (breakers === null) throw new Error('unreadable');
  const state = { kind: 'state', changeId: null, body: JSON.stringify(packBreakers(breakers)), at: NOW + 15 };
  expect(foldBreakers([state, sample(20)], P, signed)).toEqual(foldBreakers([...failures(), sample(20)], P, signed));
});
