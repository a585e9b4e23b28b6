// node scripts/run.mjs docs:rules: writes docs/rules/ from the compiled rules. test/policy/rules/pages.test.ts checks that the pages are current.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'docs/rules');
const require = createRequire(import.meta.url);
const { rulePages } = require(join(root, 'dist/policy/rules/pages.js'));
const { PACKS, SOURCE_TOOLS } = require(join(root, 'dist/source-tools/index.js'));

const pages = rulePages(PACKS, SOURCE_TOOLS);
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (!pages.has(name)) rmSync(join(folder, name));
for (const [name, text] of pages) writeFileSync(join(folder, name), text);
process.stdout.write(`${pages.size} pages in docs/rules\n`);
