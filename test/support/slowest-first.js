const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Runs the slowest files first, so that no worker waits at the end for one file, and spreads the files that only compute
 * between the system tests, which wait for servers half of their time.
 */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    // By the durations of an earlier run. Without them jest sorts by size, and some of the smallest files run whole programs.
    const sorted = super.sort(tests);
    const isSystem = ({ context }) => ['system', 'browser'].includes(context.config.displayName.name);
    return [sorted.filter(isSystem), sorted.filter((test) => !isSystem(test))]
      .flatMap((group) => group.map((test, n) => ({ test, place: n / group.length })))
      .sort((a, b) => a.place - b.place)
      .map(({ test }) => test);
  }
};
