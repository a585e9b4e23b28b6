import fc from 'fast-check';

const codePoint = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }));

/** As `fc.string({ unit: 'binary' })`, which takes a second and 100 MB for its table of all code points. */
export const anyText = (maxLength = 10): fc.Arbitrary<string> =>
  fc.array(codePoint, { maxLength }).map((points) => String.fromCodePoint(...points));
