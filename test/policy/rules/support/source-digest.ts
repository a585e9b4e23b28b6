import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { transformSync } from '@swc/core';

export const ROOT = resolve(__dirname, '../../../..');

/** Every TypeScript file below a folder, or the file itself; sorted. */
export function sourcesUnder(path: string): readonly string[] {
  const full = join(ROOT, path);
  if (path.endsWith('.ts')) return [path];
  return readdirSync(full, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(path, name))
    .sort();
}

/** The one source file below `folders` that defines the rule: as `name:` or `implementation:`, or as a helper's first argument. Throws where there is none, or more than one. */
export function fileOfRule(name: string, folders: readonly string[]): string {
  const definition = new RegExp(`(?:\\b(?:name|implementation):|\\()\\s*'${name}'`);
  const files = folders.flatMap(sourcesUnder).filter((path) => definition.test(read(path)));
  const [file] = files;
  if (file === undefined || files.length > 1)
    throw new Error(
      `expected one file below ${folders.join(', ')} that names '${name}', got ${files.length}: ${files.join(', ')}`,
    );
  return file;
}

/** The file and everything below the folders of `within` that it imports as a value, sorted. Types are erased, so their files do not count. */
export function closureOf(file: string, ...within: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    // From the transformed code: imports of types are gone from it.
    for (const [, specifier] of code(path).matchAll(/(?:from|import)\s*['"](\.[^'"]+)['"]/g)) {
      const target = relative(ROOT, resolve(ROOT, dirname(path), specifier as string));
      const found = [`${target}.ts`, join(target, 'index.ts')].find((candidate) => existsSync(join(ROOT, candidate)));
      if (found !== undefined && within.some((folder) => found.startsWith(`${folder}/`))) visit(found);
    }
  };
  visit(file);
  return [...seen].sort();
}

/** SHA-256 over the files' code, without types, comments and layout: reformatting is no new logic. */
export function sourceSha(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\n${code(file)}\n`);
  return hash.digest('hex');
}

const transformed = new Map<string, string>();

function code(path: string): string {
  const known = transformed.get(path);
  if (known !== undefined) return known;
  const output = transformSync(read(path), {
    filename: path,
    swcrc: false,
    configFile: false,
    minify: true,
    jsc: { target: 'es2023', parser: { syntax: 'typescript' }, minify: { compress: false, mangle: false } },
  }).code;
  transformed.set(path, output);
  return output;
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
