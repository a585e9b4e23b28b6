// node scripts/check-layers.mjs [folder]: checks every import below the folder against .dependency-cruiser.cjs, and prints
// how many circles and upward arrows there are.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cruise } from 'dependency-cruiser';

const { forbidden, options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs');
const FOLDERS = ['policy', 'signing', 'storage', 'source-tools', 'activities', 'workflows', 'client', 'gateway'];
const ABOVE = ['workers', 'cli', 'dev', 'compat', 'examples', 'bench', 'chaos'];

if (process.argv[2] !== undefined) process.chdir(process.argv[2]);
const folders = [...FOLDERS, ...ABOVE].filter((folder) => existsSync(folder));
const { output } = await cruise(folders, { ...options, validate: true, ruleSet: { forbidden } });
const { violations, totalCruised, totalDependenciesCruised } = output.summary;

/** Each file of a circle reports it: the same files are the same circle. */
const circles = new Map(
  violations
    .filter(({ rule }) => rule.name === 'circle')
    .map(({ from, cycle }) => [
      cycle
        .map(({ name }) => name)
        .toSorted()
        .join(' '),
      [from, ...cycle.map(({ name }) => name)],
    ]),
);
const arrows = violations.filter(({ rule }) => rule.name.startsWith('arrow'));
const packages = violations.filter(({ rule }) => rule.name.startsWith('package'));

for (const files of circles.values()) console.error(`circle: ${files.join(' → ')}`);
for (const { rule, from, to } of [...arrows, ...packages])
  console.error(`${rule.name}: ${from} → ${to}\n  ${forbidden.find(({ name }) => name === rule.name).comment}`);
console.log(
  `${circles.size} circles, ${arrows.length} upward arrows, ${packages.length} forbidden packages ` +
    `(${totalCruised} modules, ${totalDependenciesCruised} imports)`,
);
process.exitCode = violations.length === 0 ? 0 : 1;
