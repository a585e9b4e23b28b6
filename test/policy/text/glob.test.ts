import fc from 'fast-check';
import { coveringGlob, globCovers, pathName } from '../../../policy/text/glob';

const piece = fc.constantFrom('*', '**', '**/', '/**', '/', '.', 'a', 'B', 'test', '.git', 'x.', '*.', 'é');
const glob = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
const path = fc
  .array(fc.constantFrom('/', '.', 'a', 'b', 'test', '.git', 'x', 'É'), { maxLength: 7 })
  .map((pieces) => pieces.join(''));

test('the index of a list finds the same glob as trying all in order, ignoring case', () => {
  fc.assert(
    fc.property(fc.array(glob, { maxLength: 6 }), path, (globs, tried) => {
      const first = globs.find((one) => globCovers(one.toLowerCase(), tried.toLowerCase()));
      return coveringGlob(globs, pathName(tried)) === first;
    }),
    { numRuns: 5000 },
  );
});

test.each([
  ['**/*.tf', 'a/MAIN.TF', true],
  ['**/*.tf', 'a/main.tf.json', false],
  ['**/Dockerfile*', 'Dockerfile', true],
  ['**/Dockerfile*', 'dockerfile/x', false],
  ['**/auth/**', 'auth', false],
  ['**/auth/**', 'src/auth/x.ts', true],
  ['docs/', 'docs/a/b.md', true],
  ['docs/', 'docs', false],
  ['**/*.test.*', 'a/b.test.ts', true],
  ['**/*.test.*', 'a.test.d/b.ts', false],
  ['**/x*x', 'x', false],
  ['azure-pipelines*.yml', 'ci/azure-pipelines.yml', false],
])('%s on %s: %s', (pattern, tried, covers) => {
  expect(coveringGlob([pattern], pathName(tried))).toBe(covers ? pattern : undefined);
});
