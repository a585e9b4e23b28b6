import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { rulePages } from '../../../policy/rules/pages';
import { packDefinitions, PACKS, SOURCE_TOOLS } from '../../../source-tools';
import { scanText, SECRET_CATEGORIES } from '../../../policy/rules/secrets/scan';
import { bidi, invisible } from '../../../policy/text/characters';
import { ROOT } from '../../support/root';

const FOLDER = join(ROOT, 'docs/rules');
const pages = [...rulePages(PACKS, SOURCE_TOOLS)];

it.each(pages)('docs/rules/%s is up to date with the rules; `npm run docs:rules` writes it', (name, text) => {
  expect(readFileSync(join(FOLDER, name), 'utf8')).toBe(text);
});

it('has only pages that are generated from the rules', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(pages.map(([name]) => name).sort());
});

it('each rule links to a page and a heading that exist', () => {
  const byName = new Map(pages);
  for (const { docs, implementation } of packDefinitions) {
    const [file = '', anchor] = docs.replace('docs/rules/', '').split('#');
    expect([docs, byName.get(file)?.includes(`\n## ${anchor}\n`)]).toEqual([docs, true]);
    expect(anchor).toBe(implementation);
  }
});

it('shows no secret and no hidden character, although the examples contain them', () => {
  for (const [name, text] of pages) {
    const { found } = scanText(text);
    expect([name, found.token, found.private_key, bidi(text), invisible(text)]).toEqual([name, [], [], [], []]);
    expect(SECRET_CATEGORIES).toContain('token');
  }
});

it('describes every setting of every rule', () => {
  const settings = packDefinitions.flatMap(({ implementation, config }) =>
    Object.entries(
      (z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' }) as { properties?: Record<string, unknown> })
        .properties ?? {},
    ).map(([name, setting]) => ({ setting: `${implementation}.${name}`, ...(setting as { description?: string }) })),
  );
  expect(settings.length).toBeGreaterThan(100);
  expect(settings.filter(({ description = '' }) => description === '').map(({ setting }) => setting)).toEqual([]);
});
