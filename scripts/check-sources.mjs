// node scripts/check-sources.mjs [folder]: what no other check sees in the texts of the sources. Each rule names the files that it
// reads and returns what it found there, one text for each problem.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SERVER = ['activities', 'client', 'gateway', 'signing', 'source-tools', 'storage', 'workers', 'workflows'];
const PROGRAM = [...SERVER, 'cli', 'policy'];
const VARIABLES = 'workers/process-env.ts';
const PAGE = 'gateway/inbox/page';

const HTML_SINKS =
  /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|createContextualFragment|srcdoc|\beval\b|new Function|javascript:/;
const VIEW_IMPORTS =
  /^(\.\/|\.\.\/(hooks|model|view|api-client|enroll|passkey)\b|\.\.\/\.\.\/api$|\.\.\/\.\.\/\.\.\/\.\.\/(policy|signing)\/|preact(\/hooks)?$|zod$)/;

const RULES = [
  forbidden(PROGRAM, /\bDecisionContext\b/, 'The contract of the guardians forbids a type of this name'),
  forbidden(PROGRAM, /\bchangeReason\b/, 'The contract of the guardians forbids this name: a result has reason'),
  forbidden(PROGRAM, /['"`](?:WARN|BLOCK): ?/, 'The status distinguishes reasons, not a prefix of their texts'),
  forbidden([PAGE], HTML_SINKS, 'The page writes no text as HTML and evaluates none'),
  importsOfViews,
  variablesOfProcesses,
  printedPages,
  staleDefects,
];

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(resolve(process.argv[2] ?? '.'));

async function main(root) {
  const problems = await problemsIn(root);
  for (const problem of problems) console.error(problem);
  console.log(`${problems.length} problems in the texts of sources`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/** The problems in a checkout; the lines of one after the first explain it. */
export async function problemsIn(root) {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const defectList = join(root, 'scripts/defects/list.mjs');
  const { DEFECTS } = existsSync(defectList) ? await import(pathToFileURL(defectList).href) : { DEFECTS: [] };
  const checkout = {
    root,
    read: (path) => readFileSync(join(root, path), 'utf8'),
    files: listed.split('\n').filter((path) => path !== '' && existsSync(join(root, path))),
    defects: DEFECTS,
  };
  return RULES.flatMap((rule) => rule(checkout));
}

/** The tracked and new files of these folders; [path, text]. */
function sources({ files, read }, folders, extensions = ['ts', 'tsx']) {
  const isWanted = (path) =>
    folders.some((folder) => path.startsWith(`${folder}/`)) && extensions.includes(path.split('.').at(-1));
  return files.filter(isWanted).map((path) => [path, read(path)]);
}

function forbidden(folders, pattern, why) {
  return (checkout) =>
    sources(checkout, folders, ['ts', 'tsx', 'html', 'css', 'svg']).flatMap(([path, text]) => {
      const found = pattern.exec(text)?.[0];
      return found === undefined ? [] : [`${path}: ${found}\n  ${why}`];
    });
}

/** check-layers.mjs cannot parse TSX. */
function importsOfViews(checkout) {
  return sources(checkout, [`${PAGE}/view`]).flatMap(([path, text]) =>
    [...text.matchAll(/from '([^']+)'/g)]
      .filter(([, from]) => !VIEW_IMPORTS.test(from))
      .map(
        ([, from]) =>
          `${path}: imports ${from}\n  A view may import the page, its contract with the gateway and pure code`,
      ),
  );
}

function variablesOfProcesses(checkout) {
  const namesIn = (text) => new Set(text.match(/COUNTERSIGN_[A-Z]+(_[A-Z]+)*/g));
  const known = namesIn(checkout.read(VARIABLES));
  const used = new Map();
  for (const [path, text] of sources(checkout, [...SERVER, 'cli', 'dev']).filter(([path]) => path !== VARIABLES))
    for (const name of namesIn(text)) used.set(name, path);
  return [
    ...[...used].filter(([name]) => !known.has(name)).map(([name, path]) => `${path}: ${name} is not in ${VARIABLES}`),
    ...[...known].filter((name) => !used.has(name)).map((name) => `${VARIABLES}: nothing reads ${name}`),
  ];
}

/** Rules have diffs with paths as examples; a test checks the pages that their definitions name. */
function printedPages(checkout) {
  const folders = [...SERVER, 'cli', 'compat', 'dev'].filter((folder) => folder !== 'source-tools');
  const packed = JSON.parse(checkout.read('package.json')).files;
  return sources(checkout, folders)
    .filter(([path]) => !path.startsWith('cli/judge/cases/'))
    .flatMap(([path, text]) => {
      const code = text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, '');
      const pages = [...code.matchAll(/\bdocs\/[\w./-]+/g)].map(([page]) => page.replace(/\.$/, ''));
      return pages.flatMap((page) => {
        if (!existsSync(join(checkout.root, page))) return [`${path}: ${page} does not exist`];
        return packed.includes(`${dirname(page)}/*.md`) ? [] : [`${path}: the package does not contain ${page}`];
      });
    });
}

/** Each seeded defect must have exactly one place in the sources, change it, and name tests that exist. */
function staleDefects({ root, read, defects }) {
  const names = defects.map(({ name }) => name);
  const stale = defects.filter(
    ({ name, file, from, to, tests }) =>
      names.indexOf(name) !== names.lastIndexOf(name) ||
      !existsSync(join(root, file)) ||
      read(file).split(from).length !== 2 ||
      from === to ||
      tests.length === 0 ||
      tests.some((test) => !existsSync(join(root, test))),
  );
  const why =
    'Give it its own name, text that its file contains once, another one for it, and tests that exist; then run';
  return stale.map(
    ({ name, file, from }) =>
      `scripts/defects: "${name}" is stale\n  ${file}: ${from}\n  ${why} npm run defects -- --only "${name}"`,
  );
}
