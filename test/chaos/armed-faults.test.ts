import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FaultController, fileFaultSource } from '../../chaos/sweep/armed-faults';
import type { Fault } from '../../chaos/sweep/points';

const CHANGE = 'a'.repeat(64);
const POINT = 'activity.disclose';
const fault = (action: Fault['action']): Fault => ({ point: POINT, when: 'before', action });

function armed(...faults: Fault[]): { controller: FaultController; take: () => Fault | null } {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-faults-'));
  dirs.push(dir);
  const controller = new FaultController(dir);
  controller.arm(CHANGE, faults);
  return { controller, take: () => fileFaultSource(dir).take(CHANGE, POINT, 'before') };
}

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});

test('a fault fires once, and two faults at one failpoint fire one after the other', () => {
  const { controller, take } = armed(fault('throw'), fault('lost'));
  expect(controller.unreached(CHANGE)).toHaveLength(2);
  expect([take(), take(), take()]).toEqual([fault('throw'), fault('lost'), null]);
  expect(controller.unreached(CHANGE)).toEqual([]);
});

test('a permanent failure fires each time, so a repeated step fails like the first attempt', () => {
  const { controller, take } = armed(fault('fatal'));
  expect(controller.unreached(CHANGE)).toHaveLength(1);
  expect([take(), take(), take()]).toEqual([fault('fatal'), fault('fatal'), fault('fatal')]);
  expect(controller.unreached(CHANGE)).toEqual([]);
});

test('a fault does not fire for another change, failpoint or moment', () => {
  const { controller } = armed(fault('throw'));
  const source = fileFaultSource(controller.dir);
  expect(source.take('b'.repeat(64), POINT, 'before')).toBeNull();
  expect(source.take(CHANGE, 'activity.commit', 'before')).toBeNull();
  expect(source.take(CHANGE, POINT, 'after')).toBeNull();
  expect(controller.unreached(CHANGE)).toHaveLength(1);
});
