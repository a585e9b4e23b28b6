import { onStopSignal } from '../../workers/on-stop-signal';

let now = 0;
let exit: jest.SpyInstance;
let stops: string[];
let forget: () => void;
beforeEach(() => {
  now = 1_000_000;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
  stops = [];
  forget = onStopSignal((signal, exitCode) => void stops.push(`${signal} ${exitCode}`));
});
afterEach(() => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
  jest.restoreAllMocks();
});

const send = (signal: NodeJS.Signals, laterMs = 0): void => {
  now += laterMs;
  // Without a listener, the signal would end the process.
  expect(process.emit(signal, signal)).toBe(true);
};

test('a signal that arrives several times within a second stops once, and ends nothing at once', () => {
  send('SIGINT');
  send('SIGINT', 30);
  send('SIGTERM', 900);
  expect(stops).toEqual(['SIGINT 130']);
  expect(exit).not.toHaveBeenCalled();
});

test('another signal after more than a second exits at once, with the code of that signal', () => {
  send('SIGHUP');
  send('SIGTERM', 1_100);
  expect(stops).toEqual(['SIGHUP 129']);
  expect(exit.mock.calls).toEqual([[143]]);
});

test('the listeners can be removed before a signal, but not while the process stops', () => {
  forget();
  expect(process.listenerCount('SIGINT')).toBe(0);
  forget = onStopSignal(() => {});
  send('SIGINT');
  forget();
  expect(process.listenerCount('SIGINT')).toBe(1);
});
