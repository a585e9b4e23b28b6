// node scripts/build-client.mjs
//
// Builds the package @countersign/client into client/dist: an ES module and a CommonJS module for each entry, with types for both.
// Rolldown bundles the code, and with rolldown-plugin-dts the declarations that tsc emits. zod and the other libraries are inlined, so the
// package has no dependencies; only Temporal, an optional peer of the entry `temporal`, stays an import.
// `npm pack ./client` runs this first.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { licenceNotices } from './licence-notices.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, 'client', 'dist');
const PEERS = ['@temporalio/client', '@temporalio/common'];
/** What may become part of the package. Anything else that the client comes to import fails the build. */
const INLINED = ['@noble/curves', '@noble/hashes', '@opentelemetry/api', '@scure/base', 'zod'];

const options = {
  cwd: root,
  platform: 'node',
  external: [...PEERS, /^node:/],
  // An import that cannot be resolved would become a dependency that the package does not declare.
  onLog(level, log, report) {
    if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
    report(level, log);
  },
};

/** zod names its CommonJS declarations first, whose locales use `export =`, which cannot be bundled. Its ES declarations are the same. */
const moduleTypesOfZod = {
  name: 'module-types-of-zod',
  resolveId: {
    order: 'pre',
    filter: { id: /^zod$/ },
    handler: () => join(root, 'node_modules/zod/index.d.ts'),
  },
};

// The folder itself stays: a new one would change the time of client/, by which `npm test` sees whether sources changed.
mkdirSync(out, { recursive: true });
for (const name of readdirSync(out)) rmSync(join(out, name), { recursive: true });
const bundled = await buildCode();
await buildTypes();
writeFileSync(join(out, 'THIRD-PARTY-NOTICES.txt'), licenceNotices(root, '@countersign/client', bundled, INLINED));

/** Both entries share a chunk, so that `CountersignError` is one class in either format. */
async function buildCode() {
  const bundle = await rolldown({
    ...options,
    input: { index: join(root, 'client/index.ts'), temporal: join(root, 'client/temporal.ts') },
  });
  const modules = new Set();
  for (const [format, extension] of [
    ['es', 'mjs'],
    ['cjs', 'cjs'],
  ]) {
    const { output } = await bundle.write(names(format, extension));
    for (const chunk of output) {
      checkImports(chunk, output);
      for (const [id, { renderedLength }] of Object.entries(chunk.modules)) if (renderedLength > 0) modules.add(id);
    }
  }
  await bundle.close();
  return modules;
}

/** The same declarations under both extensions: TypeScript reads the format of a declaration file from its name. */
async function buildTypes() {
  const declarations = join(out, 'declarations');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.client.json'], { cwd: root, stdio: 'inherit' });
  const bundle = await rolldown({
    ...options,
    input: { index: join(declarations, 'client/index.d.ts'), temporal: join(declarations, 'client/temporal.d.ts') },
    // `oxc` is only the default generator's name: with `dtsInput` nothing is generated, and no TypeScript API is needed.
    plugins: [moduleTypesOfZod, dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false, generator: 'oxc' })],
  });
  for (const extension of ['d.mts', 'd.cts']) {
    const { output } = await bundle.write(names('es', extension));
    for (const chunk of output) checkImports(chunk, output);
  }
  await bundle.close();
  rmSync(declarations, { recursive: true });
}

function names(format, extension) {
  return {
    dir: out,
    format,
    exports: 'named',
    comments: { legal: false },
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `shared.${extension}`,
  };
}

/** A package that its package.json does not name must not be imported, and Temporal only by the entry `temporal`. */
function checkImports(chunk, output) {
  const files = output.map(({ fileName }) => fileName);
  for (const name of [...chunk.imports, ...chunk.dynamicImports]) {
    const known = name.startsWith('node:') || files.includes(name) || builtinModules.includes(name);
    const peer = PEERS.includes(name) && chunk.fileName.startsWith('temporal.');
    if (!known && !peer) throw new Error(`client/dist/${chunk.fileName} imports ${name}, which it must not`);
  }
}
