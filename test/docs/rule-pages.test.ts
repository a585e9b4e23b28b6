import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { extensionsOf } from '../../workers/extensions';
import { ROOT } from '../support/root';

const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: readonly string[] };
const { validators } = extensionsOf();
const pages = [...validators.keys()].map((key) => [key, validators.get(key)?.docs ?? ''] as const);

test('the page that the definition of a validator names is in the package, with its heading', () => {
  expect(pages.length).toBeGreaterThan(100);
  const problems = pages.flatMap(([key, named]) => {
    const [page = '', anchor] = named.split('#');
    if (!existsSync(join(ROOT, page))) return [`${key}: ${page} does not exist`];
    if (!files.includes(`${dirname(page)}/*.md`)) return [`${key}: the package does not contain ${page}`];
    if (anchor === undefined) return [];
    const headings = readFileSync(join(ROOT, page), 'utf8').matchAll(/^#+ (.*)$/gm);
    return [...headings].some(([, heading]) => heading === anchor) ? [] : [`${key}: ${page} has no heading ${anchor}`];
  });
  expect(problems).toEqual([]);
});
