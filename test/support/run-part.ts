import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FILE_SECONDS } from './file-seconds';
import { ROOT } from './root';

type Kind = 'fast' | 'slow' | 'system';

const PARTS = join(ROOT, 'test', 'parts');
/** Files that look at the modules that are loaded. */
const ALONE = JSON.parse(readFileSync(join(PARTS, 'alone.json'), 'utf8')) as readonly string[];

/** Of files that are not listed. */
const OTHERS_SECONDS: Readonly<Record<Kind, number>> = { fast: 0.5, slow: 4, system: 10 };

/**
 * Runs one part of all test files of a project with the same loaded modules. Jest loads every module again for each test file,
 * which takes longer than most of the tests. See jest.config.js.
 */
export function runPart(self: string): void {
  const [, kind = '', number = ''] = /^(fast|slow|system)-(\d+)\.test\.ts$/.exec(basename(self)) ?? [];
  const parts = readdirSync(PARTS).filter((name) => name.startsWith(`${kind}-`)).length;
  // A describe block limits the hooks of a file to its tests.
  for (const file of partsOf(kind as Kind, parts)[Number(number) - 1] ?? [])
    describe(file, () => void require(join(ROOT, file)));
  // The last file would set the bound of all. Only a test that hangs takes this long.
  jest.setTimeout(kind === 'fast' ? 60_000 : 400_000);
}

/** Divides the files of a kind into parts that take about equally long. */
function partsOf(kind: Kind, count: number): readonly (readonly string[])[] {
  const parts = Array.from({ length: count }, () => ({ seconds: 0, files: [] as string[] }));
  const secondsOf = (file: string): number => FILE_SECONDS[file] ?? OTHERS_SECONDS[kind];
  for (const file of filesOf(kind).toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    const shortest = parts.reduce((least, part) => (part.seconds < least.seconds ? part : least));
    shortest.seconds += secondsOf(file);
    shortest.files.push(file);
  }
  return parts.map(({ files }) => files);
}

function filesOf(kind: Kind): readonly string[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.test.ts') && kindOf(file) === kind)
    .toSorted();
}

function kindOf(file: string): Kind | null {
  if (/^test\/(parts|browser)\//.test(file) || ALONE.includes(file)) return null;
  if (file.startsWith('test/system/')) return 'system';
  return file.endsWith('.slow.test.ts') ? 'slow' : 'fast';
}
