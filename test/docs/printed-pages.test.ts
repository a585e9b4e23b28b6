import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { extensionsOf } from '../../workers/extensions';

const ROOT = join(__dirname, '../..');
const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: readonly string[] };

/** Folders whose texts are printed. Rules have diffs with paths as examples; what they print of pages is in their definitions. */
const FOLDERS = [
  'activities',
  'cli',
  'client',
  'compat',
  'dev',
  'gateway',
  'signing',
  'storage',
  'workers',
  'workflows',
];

/** Pages in texts, without those in comments. */
function mentionedPages(): ReadonlyMap<string, string> {
  const sources = execFileSync('git', ['ls-files', ...FOLDERS.map((folder) => `${folder}/**.ts`)], { cwd: ROOT })
    .toString()
    .split('\n')
    .filter((path) => path !== '' && !path.startsWith('cli/judge/cases/'));
  const pages = new Map<string, string>();
  for (const source of sources) {
    const text = readFileSync(join(ROOT, source), 'utf8');
    const code = text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, '');
    for (const [page] of code.matchAll(/\bdocs\/[\w./-]+/g)) pages.set(page.replace(/\.$/, ''), source);
  }
  const { validators } = extensionsOf();
  for (const key of validators.keys()) pages.set(validators.get(key)?.docs ?? '', `validator ${key}`);
  return pages;
}

const pages = mentionedPages();

test('pages are found in texts and in definitions', () => {
  expect([...pages.keys()]).toEqual(expect.arrayContaining(['docs/operate.md', 'docs/judge.md', 'docs/policy.md']));
  expect(pages.size).toBeGreaterThan(100);
});

test('every page that something prints is in the package, with its heading', () => {
  const problems = [...pages].flatMap(([printed, where]) => {
    const [page = '', anchor] = printed.split('#');
    if (!existsSync(join(ROOT, page))) return [`${where}: ${page} does not exist`];
    if (!files.includes(`${dirname(page)}/*.md`)) return [`${where}: the package does not contain ${page}`];
    if (anchor === undefined) return [];
    const headings = readFileSync(join(ROOT, page), 'utf8').matchAll(/^#+ (.*)$/gm);
    return [...headings].some(([, heading]) => heading === anchor)
      ? []
      : [`${where}: ${page} has no heading ${anchor}`];
  });
  expect(problems).toEqual([]);
});
