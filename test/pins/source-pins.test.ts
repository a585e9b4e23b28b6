import { currentPins, readPins, unraised, type SourcePins } from './pinned-sources';

/**
 * Pins the code of each rule, extractor and part of the judge to the revision that `logic_hash` covers: an approval must
 * not cover other logic than the one that was approved. `npm run pins` writes the pins.
 */
const pinned = readPins();
const current = currentPins();

test.each(Object.keys(current))('an edit of %s needs another revision [G18, T12]', (name) => {
  if (unraised(pinned, current).includes(name))
    throw new Error(
      `The code of ${name} changed under revision ${pinned[name]?.revision}. Raise the revision and run \`npm run pins\`, or, ` +
        'if the findings are the same on every input, run `npm run pins -- --base <commit>`, which proves it and writes the pins.',
    );
  expect({ [name]: current[name], command: 'npm run pins' }).toEqual({ [name]: pinned[name], command: 'npm run pins' });
});

it('pins exactly the rules, extractors and parts of the judge that exist, each at its revision [T12]', () => {
  expect(Object.keys(pinned)).toEqual(Object.keys(current));
  expect(Object.keys(pinned).length).toBeGreaterThan(160);
});

it('fails where a digest changed and the revision was not raised [T12]', () => {
  const pin = (revision: string, digest: string): SourcePins => ({ rule: { revision, digest } });
  expect(unraised(pin('1', 'a'), pin('1', 'b'))).toEqual(['rule']);
  expect(unraised(pin('2', 'a'), pin('1', 'b'))).toEqual(['rule']);
  expect(unraised(pin('2 parser@1', 'a'), pin('1 parser@2', 'b'))).toEqual(['rule']);
  expect(unraised(pin('1', 'a'), pin('2', 'b'))).toEqual([]);
  expect(unraised(pin('9', 'a'), pin('10', 'b'))).toEqual([]);
  expect(unraised(pin('1 parser@1', 'a'), pin('1 parser@2', 'b'))).toEqual([]);
  expect(unraised(pin('git@1 sql@1', 'a'), pin('git@1 sql@2', 'b'))).toEqual([]);
  expect(unraised(pin('1', 'a'), pin('1', 'a'))).toEqual([]);
  expect(unraised({}, pin('1', 'a'))).toEqual([]);
});
