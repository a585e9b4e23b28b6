import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { installQuietRuntime } from '../../workers/replay/quiet-runtime';
import { workflowBundle } from '../support/workflow-bundle';
import { readable, type HistoryJson } from '../support/history';
import { replay } from '../support/replay';

/** Replays recorded workflow histories with the current code, without a server. `test/system/histories.test.ts` records them. */
const FOLDER = join(__dirname, '..', 'histories');
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
const OUTCOMES = [
  'committed',
  'confirmed',
  'declined',
  'forbidden',
  'stale_base',
  'judge_concern',
  'judge_error',
  'expired',
  'withdrawn',
  'cooperative',
];

interface Recorded {
  readonly workflowId: string;
  readonly history: HistoryJson;
}
const read = (name: string): Recorded => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Recorded;

let code: string;
beforeAll(async () => {
  installQuietRuntime();
  code = await workflowBundle();
}, 180_000);

test('freezes every schema that the workflow modules export before the SDK freezes its module cache', async () => {
  const modules = new Set(
    [...code.matchAll(/\.\/dist\/((?:policy|workflows)\/[\w/-]+)\.js/g)].map(([, path = '']) => path),
  );
  const schemas: string[] = [];
  // Isolated, because other test files share the loaded modules.
  await jest.isolateModulesAsync(async () => {
    const { z } = await import('zod');
    await import('../../workflows/preload.js');
    for (const path of modules) {
      const exported = (await import(join('../..', path))) as Readonly<Record<string, unknown>>;
      for (const [name, value] of Object.entries(exported)) {
        if (!(value instanceof z.ZodType)) continue;
        schemas.push(name);
        expect({ name, frozen: Object.isFrozen(value) }).toEqual({ name, frozen: true });
      }
    }
  });
  expect(schemas).toEqual(expect.arrayContaining(['Submission', 'ValidatorResult', 'PolicyViolation']));
});

test('has a history of each outcome', () => {
  expect(FILES).toEqual(OUTCOMES.map((name) => `v0.2.0-${name}.json`).sort());
});

test.each(FILES)('%s replays with the current code [G52]', async (name) => {
  const { workflowId, history } = read(name);
  await expect(replay({ code }, historyFromJSON(history), workflowId)).resolves.toBeUndefined();
});

test.each(FILES)('%s contains no bytes of its diff and no value of a row [P12]', (name) => {
  const held = readable(read(name).history);
  expect(held).toContain('inputSha');
  expect(held).not.toContain('Zebra7719');
});

test('the history of a review with answers has few events, and no finding or plan twice', () => {
  const { history } = read('v0.2.0-confirmed.json');
  expect(history.events.length).toBeLessThanOrEqual(55);
  expect(payloadBytes(history)).toBeLessThanOrEqual(32_000);
});

function payloadBytes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, member]) =>
      sum + (key === 'data' && typeof member === 'string' ? Buffer.byteLength(member, 'base64') : payloadBytes(member)),
    0,
  );
}

test('fails the replay if the order of activities differs from the recorded one', async () => {
  const { workflowId, history } = read('v0.2.0-confirmed.json');
  const events = structuredClone(history.events) as {
    activityTaskScheduledEventAttributes?: { activityType: { name: string } };
  }[];
  const scheduled = (name: string) =>
    events.find((e) => e.activityTaskScheduledEventAttributes?.activityType.name === name)
      ?.activityTaskScheduledEventAttributes;
  const [stage, judge] = [scheduled('stage'), scheduled('askJudge')];
  if (stage === undefined || judge === undefined)
    throw new Error('The recorded review has no stage or askJudge activity');
  [stage.activityType, judge.activityType] = [judge.activityType, stage.activityType];
  await expect(replay({ code }, historyFromJSON({ events }), workflowId)).rejects.toThrow(/[Nn]ondeterminism/);
});
