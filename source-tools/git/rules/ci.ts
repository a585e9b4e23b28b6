import { z } from 'zod';
import { coveringGlob } from '../../../policy/text/glob';
import { linePattern, describeLine, wordsOf, type LinePattern } from '../../../policy/text/line-patterns';
import type { Hit } from '../../../policy/rules/rule-maker';
import { addedHits, atLine, gitRule, globs, MODIFIED, NEW, patchOf } from './define-git-rule';
import type { FileView } from './patch-view';
import { PIPELINES } from './protected-kinds';

const SCRIPTS = ['**/Dockerfile*', '**/*.sh', '**/*.bash', '**/Makefile', '**/*.ps1', '**/package.json'];

const PIPED: readonly LinePattern[] = [
  linePattern(
    'runs downloaded code',
    ['curl', 'wget', 'iwr', 'invoke-webrequest', 'irm', 'invoke-restmethod'],
    String.raw`\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:/\w+/)*(?:ba|z|da|k|fi)?sh\b|\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+)?(?:python|perl|ruby|node|php)|\b(?:ba|z)?sh\b\s+-?c?\s*["']?(?:<\(|\$\()\s*(?:curl|wget)|\beval\b\s*["']?\$\(\s*(?:curl|wget)|\b(?:iwr|irm|invoke-webrequest|invoke-restmethod)\b[^|;]*\|\s*(?:iex|invoke-expression)`,
  ),
];

const RISKY: readonly LinePattern[] = [
  ...PIPED,
  linePattern(
    'runs with repository permissions on an event that outsiders can trigger',
    ['pull_request_target', 'workflow_run', 'issue_comment'],
    String.raw`\b(?:pull_request_target|workflow_run|issue_comment)\b`,
  ),
  linePattern(
    'interpolates untrusted text into a script',
    ['github.event', 'github.head_ref'],
    String.raw`\$\{\{[^}]*github\.(?:event\.(?:issue|pull_request|comment|review|discussion|head_commit|commits|pages|workflow_run)\.[\w.*\[\]-]*(?:title|body|name|message|email|label|ref|head_branch|page_name)|head_ref)`,
  ),
  linePattern('uses a secret', ['secrets.', 'secrets['], String.raw`\bsecrets(?:\.|\[)`),
  linePattern('passes on all secrets', ['inherit'], String.raw`\bsecrets\s*:\s*inherit\b`),
  linePattern(
    'requests write permissions',
    ['write'],
    String.raw`\bpermissions\s*:\s*write-all\b|(?:^|[{,])\s*["']?(?:actions|contents|packages|deployments|id-token|security-events|pull-requests|statuses|checks|pages|attestations|issues)["']?\s*:\s*["']?write\b`,
  ),
  linePattern('runs on a self-hosted runner', ['self-hosted'], String.raw`\bself-hosted\b`),
  linePattern(
    'disables a protection',
    ['allow_unsecure', 'persist-credentials: true', 'strict-ssl', 'insecure', 'no-verify', 'tls_reject'],
    String.raw`ACTIONS_ALLOW_UNSECURE|strict-ssl\s*=?\s*false|--insecure\b|--no-verify\b|NODE_TLS_REJECT_UNAUTHORIZED\s*[:=]\s*["']?0`,
  ),
  linePattern(
    'runs with privileged access to the host',
    ['--privileged', 'docker.sock', 'privileged:'],
    String.raw`--privileged\b|/var/run/docker\.sock|\bprivileged\s*:\s*true`,
  ),
];

const USES = linePattern('uses an action', ['uses'], String.raw`^\s*-?\s*["']?uses["']?\s*:`);

const PIPED_WORDS = wordsOf(PIPED);
const RISKY_WORDS = wordsOf([...RISKY, USES]);

/** `uses: owner/name@ref` must name a commit, and `docker://image` a digest. Local actions (`./…`) need no pin. */
function unpinned(text: string): string | null {
  if (describeLine([USES], text) === null) return null;
  const value = (text.slice(text.indexOf(':') + 1).split('#')[0] ?? '').trim().replace(/^["']|["']$/g, '');
  if (value === '' || value.startsWith('./')) return null;
  const at = value.lastIndexOf('@');
  const ref = at === -1 ? '' : value.slice(at + 1);
  const pinned = value.startsWith('docker://')
    ? /^sha256:[0-9a-f]{64}$/.test(ref)
    : /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(ref);
  return pinned ? null : 'uses an action that is not pinned to a commit';
}

export const dangerousCi = gitRule({
  name: 'git_dangerous_ci',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'Pipelines have access to secrets and can publish releases, so one changed line can do more harm than a line of code.',
  config: z.strictObject({
    pipelines: globs(200).default([...PIPELINES]),
    scripts: globs(200)
      .default(SCRIPTS)
      .describe('Globs of scripts, which are checked only for downloaded code that is run.'),
  }),
  examples: {
    bad: patchOf('.github/workflows/ci.yml', MODIFIED, [
      '-      - uses: actions/checkout@8f4b7f84864484a7bf31766abe9204da3cbe65b3',
      '+      - uses: actions/checkout@v5',
    ]),
    good: patchOf('.github/workflows/ci.yml', MODIFIED, [
      '-      - uses: actions/checkout@v5',
      '+      - uses: actions/checkout@8f4b7f84864484a7bf31766abe9204da3cbe65b3 # v5',
    ]),
  },
  find: ({ files }, { pipelines, scripts }) =>
    files.flatMap((view): readonly Hit[] => {
      if (coveringGlob(pipelines, view.name) !== undefined)
        return addedHits(view, RISKY_WORDS, (text) =>
          isComment(text) ? null : (describeLine(RISKY, text) ?? unpinned(text)),
        );
      if (coveringGlob(scripts, view.name) !== undefined)
        return addedHits(view, PIPED_WORDS, (text) => (isComment(text) ? null : describeLine(PIPED, text)));
      return [];
    }),
});

function isComment(text: string): boolean {
  return text.trimStart().startsWith('#');
}

const TARGET = linePattern(
  'pull_request_target',
  ['pull_request_target', 'workflow_run'],
  String.raw`\b(?:pull_request_target|workflow_run)\b`,
);
const HEAD = linePattern(
  'head of the pull request',
  ['head', 'merge_commit_sha', 'pull/', 'checkout'],
  String.raw`github\.event\.(?:pull_request|workflow_run)\.head[._](?:sha|ref|branch|repo)|\bref["']?\s*:.*\bmerge_commit_sha\b|github\.head_ref|refs/pull/|\bpull/[^/]{1,200}/(?:head|merge)\b|\bgh\s+pr\s+checkout\b`,
);

export const ciUntrustedCheckout = gitRule({
  name: 'git_ci_untrusted_checkout',
  logicRevision: 4,
  defaultLevel: 'forbid',
  why: 'A workflow with repository permissions that checks out code from a fork lets the author of the fork use its permissions and secrets.',
  examples: {
    bad: patchOf('.github/workflows/pr.yml', NEW, [
      '+on: pull_request_target',
      '+jobs:',
      '+  test:',
      '+    steps:',
      '+      - uses: actions/checkout@8f4b7f84864484a7bf31766abe9204da3cbe65b3',
      '+        with: { ref: "${{ github.event.pull_request.head.sha }}" }',
    ]),
    good: patchOf('.github/workflows/pr.yml', NEW, ['+on: pull_request', '+jobs:', '+  test:', '+    steps: []']),
  },
  find: ({ files }) =>
    files.flatMap((view) => (coveringGlob(WORKFLOWS, view.name) === undefined ? [] : untrustedCheckouts(view))),
});

const WORKFLOWS = ['.github/**', '.forgejo/**', '.gitea/**', '**/action.y*ml'];

/** Hits if the patch shows both the trigger and the checkout, and at least one of them is an added line. */
function untrustedCheckouts(view: FileView): Hit[] {
  const linesWith = (pattern: LinePattern) =>
    [...view.lines('+'), ...view.lines(' ')].filter(
      (line) => !isComment(line.text) && describeLine([pattern], line.text) !== null,
    );
  const [targets, heads] = [linesWith(TARGET), linesWith(HEAD)];
  if (targets.length === 0 || heads.length === 0) return [];
  if (![...targets, ...heads].some((line) => line.kind === '+')) return [];
  return heads.map((line) => atLine(view.file, line, 'checks out untrusted code with repository permissions'));
}
