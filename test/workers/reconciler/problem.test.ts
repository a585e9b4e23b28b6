import { problemOf, type OpenReview } from '../../../workers/reconciler/problem';
import type { Observation } from '../../../workers/reconciler/observe';

const HOUR = 3_600_000;
const NOW = 1_800_000_000_000;
const waiting: OpenReview = {
  changeId: 'a'.repeat(64),
  state: 'INTERVENTION_REQUIRED',
  openedAt: NOW - 100 * HOUR,
  updatedAt: NOW - 100 * HOUR,
  deadlineAt: NOW + HOUR,
  answered: false,
};
const running: Extract<Observation, { state: 'running' }> = {
  state: 'running',
  type: 'review',
  runId: 'run',
  taskQueue: 'countersign-review',
  events: 30,
  attempts: 0,
  problems: null,
  refusedEnd: null,
  ending: false,
};
const kind = (seen: Observation, review: Partial<OpenReview> = {}): string | null =>
  problemOf({ ...waiting, ...review }, seen, NOW, HOUR)?.kind ?? null;

test('a review that waits for people has no problem, for however long it waits', () => {
  expect(kind(running)).toBeNull();
  expect(kind({ ...running, attempts: 1 })).toBeNull();
  expect(kind(running, { updatedAt: 0 })).toBeNull();
  expect(kind(running, { updatedAt: 0, deadlineAt: NOW })).toBeNull();
});

test('a review on a queue of ours with a suffix has no problem', () => {
  expect(kind({ ...running, taskQueue: 'countersign-review-blue' })).toBeNull();
});

test('a task that one crash of a worker repeated is not a failing task', () => {
  expect(kind({ ...running, attempts: 2 })).toBeNull();
});

test.each<[Observation, string]>([
  [{ state: 'missing' }, 'missing'],
  [{ state: 'closed', how: 'terminated', type: 'review', runId: 'run' }, 'terminated'],
  [{ state: 'closed', how: 'failed', type: 'review', runId: 'run' }, 'failed'],
  [{ state: 'closed', how: 'completed', type: 'review', runId: 'run' }, 'completed'],
  [{ ...running, type: 'mallory' }, 'other_type'],
  [{ ...running, taskQueue: 'mallory' }, 'other_queue'],
  [{ ...running, taskQueue: 'countersign-reviewer' }, 'other_queue'],
  [{ ...running, attempts: 3 }, 'task_fails'],
  [{ ...running, refusedEnd: 'not supported' }, 'refused_end'],
])('a workflow that cannot end its review is a problem: %j', (seen, expected) => {
  expect(kind(seen)).toBe(expected);
});

test('a workflow that has not ended long after its deadline and the delay of its timer is a problem, in every state', () => {
  const delay = HOUR / 6;
  expect(kind(running, { deadlineAt: NOW - HOUR - delay + 1 })).toBeNull();
  expect(kind(running, { deadlineAt: NOW - HOUR - delay - 1 })).toBe('overdue');
  for (const state of ['RUNNING', 'INTERVENTION_REQUIRED', 'COMMITTING', 'EFFECT_UNKNOWN'] as const) {
    expect(kind(running, { state, deadlineAt: null, updatedAt: NOW - 24 * HOUR })).toBeNull();
    expect(kind(running, { state, deadlineAt: null, updatedAt: NOW - 40 * 24 * HOUR })).toBe('overdue');
  }
});

test('a workflow that waits although the ledger has all answers is a problem, unless the committer is at work', () => {
  const answered = { answered: true, deadlineAt: null, updatedAt: NOW - 11_000 };
  expect(kind(running, answered)).toBe('behind');
  expect(kind(running, { ...answered, updatedAt: NOW - 9_000 })).toBeNull();
  expect(kind({ ...running, ending: true }, answered)).toBeNull();
  expect(kind(running, { ...answered, state: 'COMMITTING' })).toBeNull();
});

test('a failing task that makes progress is another problem each time, and names of others are cut', () => {
  const key = (events: number): string | undefined =>
    problemOf(waiting, { ...running, attempts: 5, events }, NOW, HOUR)?.key;
  expect(key(30)).toBe(key(30));
  expect(key(30)).not.toBe(key(31));
  expect(problemOf(waiting, { ...running, type: 'x'.repeat(5_000) }, NOW, HOUR)?.what.length).toBeLessThan(200);
});
