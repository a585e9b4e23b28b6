/**
 * Runs before each test file: property tests draw the same values in each run, so `npm test` does not depend on chance.
 * `npm run fuzz` sets COUNTERSIGN_PROPERTY_SEED to fresh seeds, and prints the seed of a failure.
 */
import type fastCheck from 'fast-check';

const FIXED_SEED = 20_260_301;

// Configured when first imported: loading fast-check takes longer than many of the test files that do not use it.
jest.mock('fast-check', () => {
  const module = jest.requireActual<{ readonly default: typeof fastCheck }>('fast-check');
  module.default.configureGlobal({ ...module.default.readConfigureGlobal(), seed: chosenSeed() });
  return module;
});

function chosenSeed(): number {
  const text = process.env['COUNTERSIGN_PROPERTY_SEED'];
  if (text === undefined || text === '') return FIXED_SEED;
  const seed = Number(text);
  if (!Number.isInteger(seed)) throw new Error(`COUNTERSIGN_PROPERTY_SEED: expected an integer, got "${text}"`);
  return seed;
}
