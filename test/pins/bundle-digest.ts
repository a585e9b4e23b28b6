/**
 * Bundles the code that exported values reach, without names, types, comments, layout and file paths, and writes a digest of
 * each bundle. Started by `source-digest.ts`, since Jest cannot load Rolldown: a JSON array of roots on the standard input,
 * a JSON array of digests on the standard output.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { rolldown } from 'rolldown';
import type { Roots } from './source-digest';

/** Calls of these only make a value, so a rule's bundle leaves out its neighbors in the same file. */
const MAKERS = [
  'bytesRules',
  'categoryRule',
  'characterRule',
  'crossRule',
  'defineGuardian',
  'defineRule',
  'defineSqlRule',
  'factsRules',
  'gitRule',
  'httpRule',
  'memoizeByObject',
  'parseRule',
  'patchRule',
  'rowRule',
  'secretsRule',
  'terraformRule',
  'textRule',
  'typeRule',
  'z',
];
const ENTRY = 'countersign:pinned';

async function bundleDigest({ folder, exports }: Roots): Promise<string> {
  const entry = exports.map(([path, name], i) => {
    const file = JSON.stringify(resolve(folder, path));
    return name === '*' ? `export * as root${i} from ${file};` : `export { ${name} as root${i} } from ${file};`;
  });
  const bundle = await rolldown({
    input: ENTRY,
    cwd: folder,
    tsconfig: false,
    // A constant of another file is a name, as if it were in the same file.
    optimization: { inlineConst: false },
    external: (id) => !/^(?:[./]|[A-Z]:|countersign:)/.test(id),
    treeshake: { moduleSideEffects: false, unknownGlobalSideEffects: false, manualPureFunctions: MAKERS },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? entry.join('\n') : null),
      },
    ],
    onLog: (_, log) => {
      throw new Error(log.message);
    },
  });
  const { output } = await bundle.generate({
    comments: false,
    codeSplitting: false,
    minify: { compress: false, mangle: { toplevel: true }, codegen: { removeWhitespace: true } },
  });
  await bundle.close();
  return createHash('sha256').update(output[0].code).digest('hex');
}

async function main(): Promise<void> {
  const digests: string[] = [];
  for (const roots of JSON.parse(readFileSync(0, 'utf8')) as readonly Roots[]) digests.push(await bundleDigest(roots));
  process.stdout.write(JSON.stringify(digests));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
