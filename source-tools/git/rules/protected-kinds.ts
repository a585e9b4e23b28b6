import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';

/** A kind of file that has an effect which its lines do not show, mostly because a tool executes it without being asked. */
interface ProtectedKind {
  /** Follows the path in a finding: "is …". */
  readonly what: string;
  /** Pages of the tools that say when they execute or obey these files. */
  readonly sources: readonly string[];
  readonly globs: readonly string[];
}

/** Definitions of pipelines and of what they run. */
export const PIPELINES: readonly string[] = wordList(`
  .github/workflows/** .github/actions/** **/action.yml **/action.yaml .forgejo/workflows/** .forgejo/actions/**
  .gitea/workflows/** .gitea/actions/** .woodpecker.y*ml .woodpecker/** .gitlab-ci.yml **/.gitlab-ci*.yml
  .gitlab/** .circleci/** .buildkite/** .drone.y*ml .drone.star .travis.yml .cirrus.yml .cirrus.star
  .appveyor.yml appveyor.yml .semaphore/** .tekton/** .builds/** .build.yml .teamcity/** .concourse/**
  azure-pipelines*.y*ml .azure-pipelines/** bitbucket-pipelines.yml **/Jenkinsfile* buildspec*.y*ml
  cloudbuild*.y*ml codemagic.yaml
`);

export const PROTECTED_KINDS: readonly ProtectedKind[] = [
  {
    what: 'executed by a pipeline, with its permissions and secrets',
    sources: [
      'https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax',
      'https://forgejo.org/docs/latest/user/actions/reference/',
      'https://docs.gitea.com/usage/actions/overview',
      'https://woodpecker-ci.org/docs/usage/workflows',
      'https://docs.gitlab.com/ci/yaml/',
    ],
    globs: PIPELINES,
  },
  {
    what: 'executed or obeyed by git on checkout, commit or merge',
    sources: [
      'https://git-scm.com/docs/gitattributes',
      'https://git-scm.com/docs/gitmodules',
      'https://typicode.github.io/husky/how-to.html',
      'https://lefthook.dev/configuration/',
      'https://pre-commit.com/#plugins',
    ],
    globs: wordList(`
      **/.gitattributes **/.gitmodules .husky/** .githooks/** **/.pre-commit-config.yaml .pre-commit-hooks.yaml
      lefthook.y*ml .lefthook.y*ml .lefthook/** .overcommit.yml .lintstagedrc* lint-staged.config.*
    `),
  },
  {
    what: 'executed when a shell enters the folder or an editor opens it',
    sources: [
      'https://direnv.net/man/direnv.1.html',
      'https://code.visualstudio.com/docs/editing/workspaces/workspace-trust',
      'https://containers.dev/implementors/json_reference/',
      'https://mise.jdx.dev/hooks.html',
      'https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html',
    ],
    globs: wordList(`
      **/.envrc **/.env.vault .vscode/** **/*.code-workspace .devcontainer/** .devcontainer.json .gitpod.y*ml .idea/**
      .zed/** .fleet/** **/.exrc **/.vimrc **/.nvimrc **/.nvim.lua **/.dir-locals.el mise.toml .mise.toml .mise/**
      devbox.json flake.nix shell.nix
    `),
  },
  {
    what: 'executed when packages are installed',
    sources: [
      'https://setuptools.pypa.io/en/latest/userguide/quickstart.html#setuppy-discouraged',
      'https://docs.npmjs.com/cli/using-npm/scripts#npm-install',
      'https://pnpm.io/pnpmfile',
      'https://yarnpkg.com/configuration/yarnrc#plugins',
      'https://docs.python.org/3/library/site.html',
      'https://doc.rust-lang.org/cargo/reference/build-scripts.html',
    ],
    globs: wordList(`
      **/setup.py **/binding.gyp **/.pnpmfile.*js **/pnpmfile.*js .yarn/releases/** .yarn/plugins/** **/build.rs
      **/extconf.rb **/*.gemspec **/*.pth **/sitecustomize.py **/usercustomize.py **/hatch_build.py
    `),
  },
  {
    what: 'executed by a build or a test run',
    sources: [
      'https://docs.pytest.org/en/stable/how-to/writing_plugins.html#conftest-py-plugins',
      'https://docs.gradle.org/current/userguide/gradle_wrapper.html',
      'https://maven.apache.org/tools/wrapper/',
      'https://www.gnu.org/software/make/manual/html_node/Makefile-Names.html',
      'https://doc.rust-lang.org/cargo/reference/config.html',
    ],
    globs: wordList(`
      **/conftest.py **/noxfile.py **/gradlew **/gradlew.bat **/gradle/wrapper/** **/mvnw **/mvnw.cmd **/.mvn/**
      **/init.gradle* **/Makefile **/GNUmakefile **/Justfile **/Rakefile **/Directory.Build.props
      **/Directory.Build.targets **/.cargo/config **/.cargo/config.toml **/.bazelrc **/.rspec **/bazelw
    `),
  },
  {
    what: 'a setting of where packages come from or who updates them',
    sources: [
      'https://docs.npmjs.com/cli/configuring-npm/npmrc',
      'https://pip.pypa.io/en/stable/topics/configuration/',
      'https://docs.github.com/en/code-security/reference/supply-chain-security/dependabot-options-reference',
    ],
    globs: wordList(`
      **/.npmrc **/.yarnrc* **/bunfig.toml **/.pypirc **/pip.conf **/nuget.config **/bun.lockb
      .github/dependabot.y*ml **/renovate.json* .renovaterc*
    `),
  },
  {
    what: 'an instruction that AI agents obey',
    sources: [
      'https://agents.md/',
      'https://code.claude.com/docs/en/memory',
      'https://cursor.com/docs/context/rules',
      'https://docs.github.com/en/copilot/how-tos/configure-custom-instructions/add-repository-instructions',
      'https://modelcontextprotocol.io/docs/develop/connect-local-servers',
    ],
    globs: wordList(`
      **/AGENTS.md **/AGENTS.override.md **/CLAUDE.md **/CLAUDE.local.md **/GEMINI.md **/SKILL.md **/.claude/**
      **/.cursor/** **/.cursorrules **/.windsurf/** **/.windsurfrules **/.clinerules **/.clinerules/** **/.roo/**
      **/.roorules* **/.kiro/** **/.junie/** **/.gemini/** **/.codex/** **/.opencode/** opencode.json* .continue/**
      .amazonq/** .augment/** .trae/** .agents/** .agent/** .rules .aider.conf.yml .github/copilot-instructions.md
      .github/instructions/** .github/prompts/** .github/agents/** .github/chatmodes/** **/.mcp.json **/mcp.json
    `),
  },
  {
    what: 'a rule about who reviews changes or who may access what',
    sources: [
      'https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners',
    ],
    globs: wordList('**/CODEOWNERS .github/settings.y*ml .github/rulesets/** **/auth/**'),
  },
  {
    what: 'applied to infrastructure or to a database on deployment',
    sources: [
      'https://docs.docker.com/reference/dockerfile/',
      'https://developer.hashicorp.com/terraform/language/files',
      'https://kubernetes.io/docs/concepts/overview/working-with-objects/',
    ],
    globs: wordList(`
      **/Dockerfile* **/Containerfile* **/docker-compose*.y*ml **/compose.y*ml **/*.tf **/*.tf.json **/*.tfvars
      **/*.bicep **/k8s/** **/kubernetes/** **/kustomization.y*ml **/helm/** **/Chart.yaml **/charts/**/templates/**
      **/serverless.y*ml **/Pulumi*.yaml **/Procfile fly.toml render.yaml netlify.toml vercel.json Vagrantfile
      **/migrations/** **/db/migrate/** **/alembic/versions/**
    `),
  },
];

export const PROTECTED: readonly string[] = PROTECTED_KINDS.flatMap(({ globs }) => globs);

const KIND_OF: ReadonlyMap<string, string> = new Map(
  PROTECTED_KINDS.flatMap(({ what, globs }) => globs.map((glob) => [glob, what] as const)),
);

/** What a protected file is, by the glob of `PROTECTED_KINDS` that covers it; for a glob of a bundle, the glob itself. */
export function protectedKind(glob: string): string {
  return KIND_OF.get(glob) ?? `protected by ${shown(glob)}`;
}
