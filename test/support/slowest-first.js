const { default: Sequencer } = require('@jest/test-sequencer');

const ORDER = ['system', 'slow', 'fast'];

/**
 * What takes long begins first, so that no worker waits at the end for one file. Where jest has no durations of an earlier
 * run it goes by size, and two of the smallest files, which run whole programs, would come last.
 */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const place = ({ context }) => ORDER.indexOf(context.config.displayName.name);
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
};
