import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * The licence texts of the packages of these modules, which must accompany every copy. `inlined`: the packages that may become part of
 * the output; fails on any other. `what`: the output, as the subject of a sentence.
 */
export function licenceNotices(root, what, modules, inlined) {
  const folders = [...new Set([...modules].map(packageFolder).filter((folder) => folder !== null))].toSorted();
  const texts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (!inlined.includes(name)) throw new Error(`${what} imports ${name}, which is not in INLINED`);
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt'].map((each) => join(folder, each)).find(existsSync);
    if (file === undefined) throw new Error(`${relative(root, folder)} has no licence file to include`);
    return `${name} ${version} (${license})\n\n${readFileSync(file, 'utf8').trim()}\n`;
  });
  return `${what} contains parts of these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

function packageFolder(id) {
  const found = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id.replace(/^\0/, ''));
  return found === null ? null : found[0];
}
