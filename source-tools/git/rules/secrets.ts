import { z } from 'zod';
import { factsRules } from '../../../policy/rules/rule-maker';
import { EXAMPLE_TOKEN } from '../../../policy/rules/secrets/rules';
import { coveringGlob, pathName } from '../../../policy/text/glob';
import type { GitPatchFacts } from '../facts/git-facts';
import { GIT_PACK } from '../facts/git-parser';
import { wordList } from '../../../policy/text/word-list';
import { atFile, globs, NEW, patchOf } from './define-git-rule';

const patchRule = factsRules<GitPatchFacts>({ ...GIT_PACK, pack: 'secrets' });

const KEY_FILES = wordList(`
  **/*.p12 **/*.pfx **/*.jks **/*.keystore **/*.kdbx **/*.ppk **/id_rsa **/id_dsa **/id_ecdsa **/id_ed25519 **/.env
  **/.env.local **/.env.production **/.netrc **/.pgpass **/.htpasswd **/.git-credentials **/.docker/config.json
  **/.aws/credentials **/.kube/config **/terraform.tfstate
`);

const newFile = (path: string, line: string): string => patchOf(path, NEW, [`+${line}`]);

const keyFile = patchRule({
  name: 'secrets_key_file',
  logicRevision: 10,
  defaultLevel: 'confirm',
  why: 'Files with these names contain keys or passwords, and a binary file does not show them.',
  config: z.strictObject({
    paths: globs(200).default(KEY_FILES).describe('Globs of file names. Case is ignored.'),
  }),
  examples: {
    bad: newFile('deploy/.env', 'PORT=80'),
    good: newFile('deploy/.env.example', 'PORT=80'),
  },
  find: ({ files }, { paths }) =>
    files
      .filter((file) => file.newPath !== null && coveringGlob(paths, pathName(file.newPath)) !== undefined)
      .map((file) => atFile(file, 'the file name is typical for keys or passwords')),
});

/** What patches add to the pack `secrets`: examples in a file with data of tests, and rules that apply only to patches. */
export const gitSecrets = {
  inTestData: {
    bad: newFile('test/client.test.ts', `const token = '${EXAMPLE_TOKEN}';`),
    good: newFile('test/client.test.ts', "const token = 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx';"),
    sourceTool: 'GitPatch',
  },
  rules: [keyFile],
};
