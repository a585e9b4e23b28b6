import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const PAGES = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');

interface Link {
  readonly page: string;
  readonly target: string;
}

const links: readonly Link[] = PAGES.flatMap((page) => {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, target = '']) => ({ page, target }));
});

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function anchorsIn(path: string): readonly string[] {
  const headings = readFileSync(path, 'utf8').matchAll(/^#{1,6} (.+)$/gm);
  return [...headings].map(([, heading = '']) => anchorOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')));
}

function problemOf({ page, target }: Link): string | null {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(file)) return `${page}: ${relative(ROOT, file)} does not exist`;
  if (anchor === undefined || !file.endsWith('.md')) return null;
  return anchorsIn(file).includes(anchor) ? null : `${page}: ${relative(ROOT, file)} has no heading #${anchor}`;
}

test('every relative link of the documentation leads to a file, and every anchor to a heading', () => {
  expect(links.length).toBeGreaterThan(100);
  expect(links.map(problemOf).filter((problem) => problem !== null)).toEqual([]);
});
