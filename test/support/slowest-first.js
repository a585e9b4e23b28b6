const { default: Sequencer } = require('@jest/test-sequencer');

/** The projects in the order in which they start. */
const ORDER = ['system', 'browser', 'slow', 'fast'];

/**
 * Runs what starts many processes first, and the slowest files of each project first. At the end, when fewer files are left than
 * workers, only files run that keep a core busy by themselves.
 */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const placeOf = ({ context }) => ORDER.indexOf(context.config.displayName.name);
    // By the durations of an earlier run. Without them jest sorts by size, and some of the smallest files run whole programs.
    return super.sort(tests).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
};
