import { z } from 'zod';
import { factsRules, type PackRule } from '../../../policy/rules/rule-maker';
import { coveringGlob, pathName } from '../../../policy/text/glob';
import type { GitPatchFacts } from '../facts/git-facts';
import { GIT_PACK } from '../facts/git-parser';
import { wordList } from '../../../policy/text/word-list';

const patchRule = factsRules<GitPatchFacts>({ ...GIT_PACK, pack: 'secrets' });

const KEY_FILES = wordList(`
  **/*.p12 **/*.pfx **/*.jks **/*.keystore **/*.kdbx **/*.ppk **/id_rsa **/id_dsa **/id_ecdsa **/id_ed25519 **/.env
  **/.env.local **/.env.production **/.netrc **/.pgpass **/.htpasswd **/.git-credentials **/.docker/config.json
  **/.aws/credentials **/.kube/config **/terraform.tfstate
`);

const keyFile = patchRule({
  name: 'secrets_key_file',
  logicRevision: 9,
  defaultLevel: 'confirm',
  why: 'Files with these names contain keys or passwords, and a binary file does not show them.',
  config: z.strictObject({
    paths: z
      .array(z.string().min(1).max(500))
      .max(200)
      .default(KEY_FILES)
      .describe('Globs of file names. Case is ignored.'),
  }),
  examples: {
    bad: 'diff --git a/deploy/.env b/deploy/.env\nnew file mode 100644\nindex 0000000..8c3482d\n--- /dev/null\n+++ b/deploy/.env\n@@ -0,0 +1 @@\n+PORT=80\n',
    good: 'diff --git a/deploy/.env.example b/deploy/.env.example\nnew file mode 100644\nindex 0000000..8c3482d\n--- /dev/null\n+++ b/deploy/.env.example\n@@ -0,0 +1 @@\n+PORT=80\n',
    sourceTool: 'GitPatch',
  },
  find: ({ files }, { paths }) =>
    files
      .filter((file) => file.newPath !== null && coveringGlob(paths, pathName(file.newPath)) !== undefined)
      .map((file) => ({
        at: file.header,
        what: 'the file name is typical for keys or passwords',
        file: { path: file.path, line: null },
      })),
});

/** Rules of the pack `secrets` that apply only to patches. */
export const gitSecretsRules: readonly PackRule[] = [keyFile];
