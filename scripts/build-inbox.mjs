// node scripts/build-inbox.mjs [folder]
//
// Builds the inbox page into dist/gateway/inbox/assets: index.html, one script, one style sheet and an icon, whose names contain a
// hash of their content. The page has no inline script or style, so that the gateway's content security policy can forbid them.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { licenceNotices } from './licence-notices.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const page = join(root, 'gateway', 'inbox', 'page');
const out = resolve(process.argv[2] ?? join(root, 'dist', 'gateway', 'inbox', 'assets'));
/** In this order: a later rule replaces an earlier one. */
const STYLES = ['colours', 'base', 'frame', 'entry', 'list', 'review', 'tables', 'change', 'answer-bar', 'narrow'];
/** Packages that may become part of the page. The build fails if it imports another one. */
const INLINED = ['@noble/curves', '@noble/hashes', '@scure/base', 'preact', 'zod'];

/** The module that verifies signatures with `node:crypto` has a version for browsers; the same test vectors check both. */
const browserModules = {
  name: 'browser-modules',
  resolveId: {
    order: 'pre',
    filter: { id: /\/verify-signature$/ },
    handler: () => join(root, 'signing', 'verify-signature.browser.ts'),
  },
};

const { code, modules } = await script();
const files = {
  js: hashed('inbox', 'js', code),
  css: hashed(
    'inbox',
    'css',
    minifiedCss(STYLES.map((name) => readFileSync(join(page, 'style', `${name}.css`), 'utf8')).join('\n')),
  ),
  icon: hashed('icon', 'svg', readFileSync(join(page, 'icon.svg'), 'utf8').trim()),
};
const html = readFileSync(join(page, 'index.html'), 'utf8').replace(/%(js|css|icon)%/g, (_, kind) => files[kind].name);

// A gateway that starts during a build finds a complete page: the old files are removed last.
const written = Object.fromEntries(Object.values(files).map(({ name, text }) => [name, text]));
written['THIRD-PARTY-NOTICES.txt'] = licenceNotices(root, 'The inbox page', modules, INLINED);
written['index.html'] = html;
mkdirSync(out, { recursive: true });
for (const [name, text] of Object.entries(written)) {
  writeFileSync(join(out, `${name}.new`), text);
  renameSync(join(out, `${name}.new`), join(out, name));
}
for (const name of readdirSync(out)) if (!(name in written)) rmSync(join(out, name), { recursive: true });

async function script() {
  const bundle = await rolldown({
    cwd: root,
    input: join(page, 'main.tsx'),
    platform: 'browser',
    tsconfig: join(page, 'tsconfig.json'),
    plugins: [browserModules],
    onLog(level, log, report) {
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
      report(level, log);
    },
  });
  const { output } = await bundle.generate({ format: 'es', minify: true, comments: { legal: false } });
  await bundle.close();
  const [chunk, ...more] = output;
  const imports = [...chunk.imports, ...chunk.dynamicImports];
  if (more.length > 0 || imports.length > 0)
    throw new Error(
      `The page must be one script without imports, got ${[...more.map((m) => m.fileName), ...imports].join(', ')}`,
    );
  const used = Object.entries(chunk.modules).filter(([, { renderedLength }]) => renderedLength > 0);
  return { code: chunk.code, modules: used.map(([id]) => id) };
}

function hashed(name, extension, text) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { name: `${name}-${hash}.${extension}`, text };
}

/** Without comments and indentation. The style sheet contains no string with either. */
function minifiedCss(text) {
  return text
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s*\n\s*/g, '\n')
    .replace(/\s*([{};,])\s*/g, '$1')
    .trim();
}
