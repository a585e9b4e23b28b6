import { z } from 'zod';
import { coveringGlob } from '../../../policy/text/glob';
import { linePattern, describeLine, wordsOf, type LinePattern } from '../../../policy/text/line-patterns';
import { wordList } from '../../../policy/text/word-list';
import type { Hit } from '../../../policy/rules/hit';
import { addedHits, atLine, gitRule, globs, MODIFIED, NEW, patchOf } from './define-git-rule';
import type { FileView } from './patch-view';
import { PIPELINES } from './protected-kinds';

const SCRIPTS = wordList(`
  **/Dockerfile* **/*.dockerfile **/Containerfile* **/*.sh **/*.bash **/*.zsh **/*.fish **/*.ps1 **/*.psm1 **/*.cmd
  **/*.bat **/Makefile **/*.mk **/justfile **/Taskfile.y*ml **/package.json **/composer.json **/bin/** **/script/**
  **/scripts/** **/*.tpl **/*.tftpl
`);

/** A shell that is the last word of a pipeline, with its path and a program that starts it. */
const SHELL = String.raw`(?:^|[^|])\|&?\s*[({]?\s*(?:(?:/\w+)*/?(?:sudo|doas|env|exec|command|nohup|time|nice|setsid|busybox)\b[^|;&]*?\s)?(?:/\w+)*/?(?:(?:ba|z|da|k|fi|a|c|tc|pw)?sh\d*|su)`;
const INTERPRETER = String.raw`(?:python|perl|ruby|node|php|deno|bun|lua|osascript)[\d.]*`;
const DOWNLOAD = String.raw`\b(?:curl|wget|base64)\b`;

/** What follows `-o` or `>`: neither `-` nor /dev/null, /dev/stdout or /dev/stderr. */
const INTO_FILE = String.raw`[\s=]*["']?(?:[^\s=/;&|>"'-]|-[^\s;&|]|/(?:[^d]|d[^e]|de[^v]|dev[^/]|dev/(?:[^ns]|s[^t])))`;
/** A shell with a file; or, after `chmod`, a path. */
const RUNS_FILE = String.raw`(?:(?:sudo\s+)?(?:(?:/\w+)*/?(?:ba|z|da|k|fi|a)?sh|source|\.)\s+["']?[\w./$~{-]|(?:sudo\s+)?chmod\s[^;&|]*(?:;|&&)\s*(?:sudo\s+)?["']?\.{0,2}/)`;

const PIPED: readonly LinePattern[] = [
  linePattern(
    'runs downloaded code',
    ['curl', 'wget', 'base64', 'iwr', 'invoke-webrequest', 'irm', 'invoke-restmethod'],
    [
      String.raw`${DOWNLOAD}.*${SHELL}(?:\s|$|[;&|)}"'\x60\\])`,
      String.raw`${DOWNLOAD}.*\|\s*(?:sudo\s+)?(?:/\w+)*/?${INTERPRETER}\s*(?:-(?:\s|$|["')])|$|[;&|)"'\x60\\])`,
      String.raw`(?:\b(?:eval|source|(?:ba|z|da|k|fi|a)?sh|${INTERPRETER})|(?:^|[\s;&])\.)(?:\s+-\w+)*\s*(?:<<<\s*)?["'\\]*(?:<\(|\$\(|\x60)[^)]*${DOWNLOAD}`,
      String.raw`\b(?:iwr|irm|invoke-webrequest|invoke-restmethod)\b.*\|\s*(?:iex|invoke-expression)`,
    ].join('|'),
  ),
  linePattern(
    'runs a file that it downloaded',
    ['curl', 'wget'],
    [
      String.raw`\b(?:curl|wget)\b[^;&|]*(?:\s-[a-z]*o|--output|>)${INTO_FILE}[^;&|]*(?:;|&&)\s*${RUNS_FILE}`,
      // Without -O, wget writes the file that the URL names.
      String.raw`\bwget(?:\s+(?:-[a-np-z]+|--(?:no-|q)[\w-]*|["']?(?:https?:|\$)[^\s;&|]+))+\s*(?:;|&&)\s*${RUNS_FILE}`,
    ].join('|'),
  ),
  linePattern('pipes text into a shell', ['|'], String.raw`${SHELL}\s*(?:$|;|&|-[abd-z-])|\|\s*["']?\$\{?shell\b`),
  linePattern(
    'runs text as a command',
    ['iex', 'invoke-expression', 'downloadstring', 'scriptblock', 'powershell'],
    String.raw`\|\s*iex\b|\biex\s*[(&$]|\binvoke-expression\b|\.downloadstring\(|\[scriptblock\]::create\(|\bpowershell\S*\s.*-e(?:nc(?:odedcommand)?)?\s`,
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
    ['github'],
    String.raw`\$\{\{[^}]*github\.(?:event\.(?:issue|pull_request|comment|review|discussion|head_commit|commits|pages|workflow_run)\.[\w.*\[\]-]*(?:title|body|name|message|email|label|ref|head_branch|page_name)|head_ref)`,
  ),
  linePattern('uses a secret', ['secrets'], String.raw`\bsecrets\s*[.[)]`),
  linePattern('passes on all secrets', ['inherit'], String.raw`\bsecrets\s*:\s*inherit\b`),
  linePattern(
    'requests write permissions',
    ['write'],
    String.raw`\bpermissions["']?\s*:\s*["']?write-all\b|(?:^|[{,])\s*["']?[\w-]+["']?\s*:\s*(?:[&!]\S+\s+)?["']?write["']?\s*(?:$|[,}#])`,
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

const PIPED_WORDS = wordsOf(PIPED);
const RISKY_WORDS = [...wordsOf(RISKY), 'uses'];

const USES = /(?:^|[\s{,-])["']?uses["']?\s*:\s*([^\s,}#]+)/;

/** `uses: owner/name@ref` must name a commit, and `docker://image` a digest. Local actions (`./…`) need no pin. */
function unpinned(text: string): string | null {
  const value = USES.exec(text)?.[1]?.replace(/^["']|["']$/g, '') ?? '';
  if (value === '' || value.startsWith('./')) return null;
  const at = value.lastIndexOf('@');
  const ref = at === -1 ? '' : value.slice(at + 1);
  const pinned = value.startsWith('docker://')
    ? /^sha256:[0-9a-f]{64}$/.test(ref)
    : /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(ref);
  return pinned ? null : 'uses an action that is not pinned to a commit';
}

/** An expression with its members written with dots: `github['event'] . number` is `github.event.number`. */
function dotted(text: string): string {
  return text.replaceAll(/\[\s*'([\w-]+)'\s*\]/g, '.$1').replaceAll(/(\w)\s*\.\s*(?=\w)/g, '$1.');
}

export const dangerousCi = gitRule({
  name: 'git_dangerous_ci',
  logicRevision: 9,
  defaultLevel: 'confirm',
  why: 'Pipelines have access to secrets and can publish releases, so one changed line can do more harm than a line of code.',
  config: z.strictObject({
    pipelines: globs(200)
      .default([...PIPELINES])
      .describe('Globs of the definitions of pipelines, all lines of which are checked.'),
    scripts: globs(200)
      .default(SCRIPTS)
      .describe('Globs of scripts, which are checked only for downloaded or piped text that they run.'),
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
          isComment(text) ? null : (describeLine(RISKY, dotted(text)) ?? unpinned(text)),
        );
      if (coveringGlob(scripts, view.name) !== undefined && !DOCUMENT.test(view.name.base))
        return addedHits(view, PIPED_WORDS, (text) => (isComment(text) ? null : describeLine(PIPED, text)));
      return [];
    }),
});

const DOCUMENT = /\.(?:mdx?|rst|adoc|txt)$/;

function isComment(text: string): boolean {
  return text.trimStart().startsWith('#');
}

const TARGET = linePattern(
  'pull_request_target',
  ['pull_request_target', 'workflow_run', 'issue_comment'],
  String.raw`\b(?:pull_request_target|workflow_run|issue_comment)\b`,
);
const HEAD = linePattern(
  'head of the pull request',
  ['head', 'merge_commit_sha', 'pull/', 'checkout', 'apply'],
  String.raw`\b(?:pull_request|workflow_run)\.head[._](?:sha|ref|branch|repo)|\bref["']?\s*:.*\bmerge_commit_sha\b|github[._]head_ref|refs/pull/|\bpull/[^/]{1,200}/(?:head|merge)\b|\b(?:gh|hub)\s+pr\s+checkout\b|\bgh\s+pr\s+diff\b.*\bapply\b`,
);

export const ciUntrustedCheckout = gitRule({
  name: 'git_ci_untrusted_checkout',
  logicRevision: 6,
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

/** A key whose value is only compared or shown. */
const COMPARED = /^\s*(?:-\s*)?(?:if|group|run-name)\s*:/;

/** Hits if the patch shows both the trigger and the checkout, and at least one of them is an added line. */
function untrustedCheckouts(view: FileView): Hit[] {
  const linesWith = (pattern: LinePattern) =>
    [...view.lines('+'), ...view.lines(' ')].filter(
      ({ text }) => !isComment(text) && !COMPARED.test(text) && describeLine([pattern], dotted(text)) !== null,
    );
  const [targets, heads] = [linesWith(TARGET), linesWith(HEAD)];
  if (targets.length === 0 || heads.length === 0) return [];
  if (![...targets, ...heads].some((line) => line.kind === '+')) return [];
  return heads.map((line) => atLine(view.file, line, 'checks out untrusted code with repository permissions'));
}
