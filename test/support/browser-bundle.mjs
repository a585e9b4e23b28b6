// node test/support/browser-bundle.mjs <entry>…: bundles these modules as the inbox does, and writes {imports, modules, code} as JSON.
// A separate process, since Jest cannot load Rolldown.
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '../..');
const bundle = await rolldown({
  cwd: root,
  input: process.argv.slice(2),
  platform: 'browser',
  external: (id) => id.startsWith('node:'),
  onLog(_level, { message }) {
    throw new Error(message);
  },
  plugins: [
    {
      name: 'browser-signatures',
      resolveId: (id) => (id.endsWith('/verify-signature') ? join(root, 'signing/verify-signature.browser.ts') : null),
    },
  ],
});
const { output } = await bundle.generate();
const names = new Set(output.map(({ fileName }) => fileName));
process.stdout.write(
  JSON.stringify({
    imports: output.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]).filter((id) => !names.has(id)),
    modules: output.flatMap((chunk) => chunk.moduleIds),
    code: output.map((chunk) => chunk.code).join('\n'),
  }),
);
