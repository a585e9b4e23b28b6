import { OpenTasks } from '../../workers/screen/open-tasks';
import { hasUndeliveredEvents } from '../../workers/screen/screened-response';
import { temporal } from '@temporalio/proto';

const { EventType } = temporal.api.enums.v1;
const task = (token: string, runId = 'run') => ({ runId, taskToken: Buffer.from(token), isQuery: false });
const query = (token: string) => ({ ...task(token), isQuery: true });
/** `waits` while it has not resolved. */
const stateOf = (admitted: Promise<boolean>): Promise<boolean | 'waits'> =>
  Promise.race([admitted, new Promise<'waits'>((resolve) => setImmediate(() => resolve('waits')))]);
const tick = (tasks: OpenTasks, count: number): void => {
  for (let i = 0; i < count; i++) tasks.tick();
};

test('a workflow task waits for the one before it, and for queries', async () => {
  const tasks = new OpenTasks();
  expect(await tasks.admit(query('q'))).toBe(true);
  expect(await tasks.admit(query('p'))).toBe(true);
  const first = tasks.admit(task('1'));
  tasks.answered(Buffer.from('q'));
  expect(await stateOf(first)).toBe('waits');
  tasks.answered(Buffer.from('p'));
  expect(await stateOf(first)).toBe(true);
  const second = tasks.admit(task('2'));
  expect(await stateOf(second)).toBe('waits');
  tasks.answered(Buffer.from('1'));
  expect(await stateOf(second)).toBe(true);
  expect(await tasks.admit(query('r'))).toBe(false);
  expect(await tasks.admit(task('3', 'another run'))).toBe(true);
});

test('queries that overlap do not keep a workflow task waiting', async () => {
  const tasks = new OpenTasks();
  await tasks.admit(query('q'));
  const waiting = tasks.admit(task('1'));
  expect(await tasks.admit(query('p'))).toBe(false);
  tasks.answered(Buffer.from('q'));
  expect(await stateOf(waiting)).toBe(true);
});

test('of two tasks of a run that wait, the newer one remains', async () => {
  const tasks = new OpenTasks();
  await tasks.admit(task('1'));
  const [second, third] = [tasks.admit(task('2')), tasks.admit(task('3'))];
  expect([await stateOf(second), await stateOf(third)]).toEqual([false, 'waits']);
  tasks.answered(Buffer.from('1'));
  expect(await stateOf(third)).toBe(true);
});

test('of more than four tasks that wait for a whole tick, the longest waiting ones are dropped', async () => {
  const tasks = new OpenTasks();
  const runs = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const run of runs) await tasks.admit(task(`1 ${run}`, run));
  const waiting = runs.map((run) => tasks.admit(task(`2 ${run}`, run)));
  tick(tasks, 1);
  expect(await Promise.all(waiting.map(stateOf))).toEqual(Array(6).fill('waits'));
  tick(tasks, 1);
  expect(await Promise.all(waiting.map(stateOf))).toEqual([false, false, 'waits', 'waits', 'waits', 'waits']);
  tasks.answered(Buffer.from('1 c'));
  expect(await Promise.all(waiting.map(stateOf))).toEqual([false, false, true, 'waits', 'waits', 'waits']);
  expect(await tasks.admit(task('1 g', 'g'))).toBe(true);
});

test('any number of tasks wait for less than a tick', async () => {
  const tasks = new OpenTasks();
  const runs = Array.from({ length: 30 }, (_, i) => `run ${i}`);
  for (const run of runs) await tasks.admit(task(`1 ${run}`, run));
  const waiting = runs.map((run) => tasks.admit(task(`2 ${run}`, run)));
  for (const run of runs) tasks.answered(Buffer.from(`1 ${run}`));
  expect(await Promise.all(waiting)).toEqual(Array(30).fill(true));
});

test('the queries of a run are known while the core has no workflow task of it', async () => {
  const tasks = new OpenTasks();
  expect(tasks.onlyQueries('run')).toEqual([]);
  for (const token of ['q', 'p']) await tasks.admit(query(token));
  expect(tasks.onlyQueries('run')).toEqual([query('q'), query('p')]);
  tasks.begin(task('1'));
  expect(tasks.onlyQueries('run')).toEqual([]);
});

test('a task that waits for five ticks is dropped', async () => {
  const tasks = new OpenTasks();
  await tasks.admit(task('1'));
  const second = tasks.admit(task('2'));
  tick(tasks, 4);
  expect(await stateOf(second)).toBe('waits');
  tick(tasks, 1);
  expect(await stateOf(second)).toBe(false);
  tasks.answered(Buffer.from('1'));
  expect(await tasks.admit(task('3'))).toBe(true);
});

test('a task that the core never answers counts for ten ticks, however long they take', async () => {
  const tasks = new OpenTasks();
  await tasks.admit(task('1'));
  tick(tasks, 9);
  expect(await tasks.admit(query('q'))).toBe(false);
  tick(tasks, 1);
  expect(await tasks.admit(query('q'))).toBe(true);
});

test('an answer to an unknown task has no effect', async () => {
  const tasks = new OpenTasks();
  tasks.answered(Buffer.from('x'));
  tasks.answered(new Uint8Array());
  await tasks.admit(task('1'));
  tasks.answered(Buffer.from('2'));
  expect(await tasks.admit(query('q'))).toBe(false);
});

describe('the events of a history', () => {
  const events = (...names: readonly string[]) =>
    names.map((name) => ({ eventType: EventType[`EVENT_TYPE_${name}` as keyof typeof EventType] }));
  const done = [
    'WORKFLOW_EXECUTION_STARTED',
    'WORKFLOW_TASK_SCHEDULED',
    'WORKFLOW_TASK_STARTED',
    'WORKFLOW_TASK_COMPLETED',
  ];

  test('are delivered if only the commands of the last completed workflow task follow it', () => {
    for (const after of [
      [],
      ['ACTIVITY_TASK_SCHEDULED', 'ACTIVITY_TASK_STARTED'],
      ['MARKER_RECORDED', 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED', 'TIMER_STARTED', 'WORKFLOW_EXECUTION_UPDATE_COMPLETED'],
    ])
      expect(hasUndeliveredEvents(events(...done, ...after))).toBe(false);
    expect(hasUndeliveredEvents([])).toBe(false);
  });

  test('are not all delivered if any other event follows it, or no workflow task has completed', () => {
    for (const name of Object.keys(EventType).map((each) => each.replace('EVENT_TYPE_', ''))) {
      const closes = /^WORKFLOW_EXECUTION_(COMPLETED|FAILED|TIMED_OUT|CANCELED|TERMINATED|CONTINUED_AS_NEW)$/.test(
        name,
      );
      const isCommand =
        /^(ACTIVITY_TASK_(SCHEDULED|STARTED|CANCEL_REQUESTED)|TIMER_(STARTED|CANCELED)|MARKER_RECORDED|UPSERT_WORKFLOW_SEARCH_ATTRIBUTES|WORKFLOW_PROPERTIES_MODIFIED|WORKFLOW_EXECUTION_(UPDATE_(ACCEPTED|COMPLETED)|OPTIONS_UPDATED)|WORKFLOW_TASK_COMPLETED)$/.test(
          name,
        );
      expect([name, hasUndeliveredEvents(events(...done, name, 'TIMER_STARTED'))]).toEqual([name, !isCommand]);
      expect([name, hasUndeliveredEvents(events(...done, name))]).toEqual([name, !isCommand && !closes]);
    }
    expect(hasUndeliveredEvents(events('WORKFLOW_EXECUTION_STARTED', 'WORKFLOW_TASK_SCHEDULED'))).toBe(true);
    expect(hasUndeliveredEvents([{ eventType: 9999 as never }, {}])).toBe(true);
  });
});
