// node scripts/check-layers.mjs [folder]: checks every import below the folder against .dependency-cruiser.cjs, and prints
// how many circles and upward arrows there are.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cruise } from 'dependency-cruiser';

const { exceptions, forbidden, options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs');
const FOLDERS = ['policy', 'signing', 'storage', 'source-tools', 'activities', 'workflows', 'client', 'gateway'];
const ABOVE = ['workers', 'cli', 'dev', 'compat', 'examples', 'bench', 'chaos'];

if (process.argv[2] !== undefined) process.chdir(process.argv[2]);
const folders = [...FOLDERS, ...ABOVE].filter((folder) => existsSync(folder));
const { output } = await cruise(folders, { ...options, validate: true, ruleSet: { forbidden } });
const { violations, totalCruised, totalDependenciesCruised } = output.summary;

const today = new Date().toISOString().slice(0, 10);
const used = new Set();
const isExcepted = ({ rule, from, to }) => {
  if (!rule.name.startsWith('arrow')) return false;
  const found = exceptions.find(
    (each) => each.until >= today && from.startsWith(`${each.from}/`) && to.startsWith(`${each.to}/`),
  );
  used.add(found);
  return found !== undefined;
};
const left = violations.filter((violation) => !isExcepted(violation));
const unused = process.argv[2] === undefined ? exceptions.filter((each) => !used.has(each)) : [];

/** Each file of a circle reports it: the same files are the same circle. */
const circles = new Map(
  left
    .filter(({ rule }) => rule.name === 'circle')
    .map(({ from, cycle }) => [
      cycle
        .map(({ name }) => name)
        .toSorted()
        .join(' '),
      [from, ...cycle.map(({ name }) => name)],
    ]),
);
const arrows = left.filter(({ rule }) => rule.name.startsWith('arrow'));
const packages = left.filter(({ rule }) => rule.name.startsWith('package'));

for (const files of circles.values()) console.error(`circle: ${files.join(' → ')}`);
for (const { rule, from, to } of [...arrows, ...packages])
  console.error(`${rule.name}: ${from} → ${to}\n  ${forbidden.find(({ name }) => name === rule.name).comment}`);
for (const { from, to } of unused) console.error(`exception not needed any more, remove it: ${from} → ${to}`);
console.log(
  `${circles.size} circles, ${arrows.length} upward arrows, ${packages.length} forbidden packages ` +
    `(${totalCruised} modules, ${totalDependenciesCruised} imports${exceptions.length === 0 ? '' : `, ${violations.length - left.length} imports excepted`})`,
);
process.exitCode = left.length + unused.length === 0 ? 0 : 1;
