import { stopUsing, targetContext, type Targets } from '../../../activities/committer/targets';

const configured = (): Targets =>
  new Map([
    ['shop', { name: 'shop', development: true, stageUrl: 'postgres://stage', commitUrl: 'postgres://commit' }],
  ]);
const CHANGE = { target: 'shop', changeId: 'change', settings: {}, signal: new AbortController().signal };
const inUse = (targets: Targets, role: 'stage' | 'commit') => targetContext(targets, { ...CHANGE, role }).inUse;

it('names the target that the committer does not know, and what to do', () => {
  const unknown = () => targetContext(configured(), { ...CHANGE, target: 'site', role: 'stage' });
  expect(unknown).toThrow('target: expected one of shop, got "site". Add it to the targets file of the committer, and');
});

describe('the connections to the targets of a process', () => {
  it('may be kept by dry runs and commits until the process stops using the targets', () => {
    const [targets, others] = [configured(), configured()];
    const signal = inUse(targets, 'stage');
    expect(inUse(targets, 'commit')).toBe(signal);
    expect(signal?.aborted).toBe(false);
    stopUsing(targets);
    expect(signal?.aborted).toBe(true);
    expect(inUse(targets, 'commit')?.aborted).toBe(true);
    expect(inUse(others, 'commit')?.aborted).toBe(false);
  });
});
