import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The code blocks of a page of this repository that have a file name (```ts name.mts), by that name. Throws if two have the same name. */
export function snippetsOf(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(__dirname, '..', '..', page), 'utf8');
  const snippets = new Map<string, string>();
  for (const [, name = '', body = ''] of text.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)) {
    if (snippets.has(name)) throw new Error(`${page} has two snippets named ${name}`);
    snippets.set(name, body);
  }
  return snippets;
}

/** One snippet. Throws if the page has no snippet of this name. */
export function snippet(page: string, name: string): string {
  const found = snippetsOf(page).get(name);
  if (found === undefined) throw new Error(`${page} has no snippet named ${name}`);
  return found;
}
