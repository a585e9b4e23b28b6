const { default: Sequencer } = require('@jest/test-sequencer');

const ORDER = ['system', 'slow', 'fast'];

/**
 * Runs the slowest files first, so that no worker waits at the end for one file. Without durations of an earlier run, jest
 * sorts by file size, and two of the smallest files, which run whole programs, would come last.
 */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const place = ({ context }) => ORDER.indexOf(context.config.displayName.name);
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
};
