import { coveringGlob, type PathName } from '../../../policy/text/glob';
import { wordList, wordSet } from '../../../policy/text/word-list';
import { nameParts } from './listed/name-parts';

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
  .gitea/workflows/** .gitea/actions/** .woodpecker.y*ml .woodpecker/** .gitlab-ci.yml **/.gitlab-ci*.y*ml
  .gitlab/** .gitlab-ci/** .circleci/** .buildkite/** buildkite.y*ml .drone.y*ml .drone.star .drone.jsonnet .travis.yml
  .cirrus.yml .cirrus.star .appveyor.yml appveyor.yml .semaphore/** .tekton/** .builds/** .build.yml .teamcity/**
  .concourse/** **/azure-pipelines*.y*ml azure-pipelines/** .azure-pipelines/** .azure/** .azuredevops/**
  bitbucket-pipelines.yml **/*Jenkinsfile* .jenkins/** vars/*.groovy **/buildspec*.y*ml **/appspec.y*ml
  **/cloudbuild*.y*ml **/cloudbuild*.json codemagic.yaml bitrise.yml bamboo-specs/** codefresh.y*ml wercker.yml
  amplify.y*ml apprunner.y*ml **/atlantis.y*ml screwdriver.yaml .readthedocs.y*ml zuul.yaml zuul.d/** *.gocd.yaml **/Earthfile dagger.json
  **/ci_scripts/ci_*.sh
`);

const AGENTS = 'an instruction that AI agents obey';

export const PROTECTED_KINDS: readonly ProtectedKind[] = [
  {
    what: 'executed by a pipeline, with its permissions and secrets',
    sources: [
      'https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax',
      'https://forgejo.org/docs/latest/user/actions/reference/',
      'https://docs.gitea.com/usage/actions/overview',
      'https://woodpecker-ci.org/docs/usage/workflows',
      'https://docs.gitlab.com/ci/yaml/',
      'https://developer.apple.com/documentation/xcode/writing-custom-build-scripts',
    ],
    globs: PIPELINES,
  },
  {
    what: 'executed or obeyed by git on checkout, commit or merge',
    sources: [
      'https://git-scm.com/docs/gitattributes',
      'https://git-scm.com/docs/gitmodules',
      'https://git-scm.com/docs/githooks',
      // A folder with HEAD, config, objects and refs is a repository; git obeys its config.
      'https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository',
      'https://typicode.github.io/husky/how-to.html',
      'https://lefthook.dev/configuration/',
      'https://pre-commit.com/#plugins',
    ],
    globs: wordList(`
      **/.gitattributes **/.gitmodules **/.gitconfig **/.lfsconfig .husky/** .githooks/** **/.pre-commit-config.yaml
      .pre-commit-hooks.yaml lefthook.* lefthook-local.* .lefthook* .lefthook/** .overcommit.yml .lintstagedrc*
      lint-staged.config.* simple-git-hooks.* captainhook.json grumphp.yml prek.toml git-hooks/** githooks/**
      **/pre-commit **/prepare-commit-msg **/commit-msg **/post-commit **/post-checkout **/post-merge **/post-rewrite
      **/pre-push **/pre-rebase **/HEAD
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
      devbox.json flake.nix shell.nix default.nix devenv.nix replit.nix
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
      'https://pkgdocs.julialang.org/v1/creating-packages/#Adding-a-build-step-to-the-package',
      'https://cabal.readthedocs.io/en/stable/cabal-package-description-file.html#pkg-field-build-type',
    ],
    globs: wordList(`
      **/setup.py **/binding.gyp **/.pnpmfile.*js **/pnpmfile.*js .yarn/releases/** .yarn/plugins/** **/build.rs
      **/extconf.rb **/*.gemspec **/*.pth **/sitecustomize.py **/usercustomize.py **/hatch_build.py
      **/Makefile.PL **/Build.PL **/deps/build.jl **/Setup.hs **/Setup.lhs
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
      'https://taskfile.dev/docs/guide#supported-file-names',
    ],
    globs: wordList(`
      **/conftest.py **/noxfile.py **/gradlew **/gradlew.bat **/gradle/wrapper/** **/mvnw **/mvnw.cmd **/.mvn/**
      **/init.gradle* **/buildSrc/** **/Makefile **/GNUmakefile **/Makefile.* **/*.mk **/Justfile **/Taskfile.y*ml **/Taskfile.dist.y*ml
      **/Rakefile **/Rakefile.rb **/*.rake **/SConstruct **/SConscript **/wscript **/Directory.Build.props **/*.targets
      **/.cargo/config **/.cargo/config.toml **/.bazelrc **/.rspec **/bazelw tools/bazel **/rebar.config.script
      **/Dangerfile **/dangerfile.* **/Fastfile
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
      **/.npmrc **/.yarnrc* **/bunfig.toml **/.pypirc **/pip.conf **/pip.ini **/nuget.config **/bun.lockb
      .github/dependabot.y*ml **/renovate.json* .renovaterc*
    `),
  },
  {
    what: AGENTS,
    sources: [
      'https://agents.md/',
      'https://code.claude.com/docs/en/memory',
      'https://cursor.com/docs/context/rules',
      'https://docs.github.com/en/copilot/how-tos/configure-custom-instructions/add-repository-instructions',
      'https://modelcontextprotocol.io/docs/develop/connect-local-servers',
    ],
    globs: wordList(`
      **/AGENTS.md **/AGENT.md **/AGENTS.override.md **/CLAUDE.md **/CLAUDE.local.md **/GEMINI.md **/QWEN.md **/CRUSH.md **/WARP.md **/SKILL.md **/.claude/**
      **/.cursor/** **/.cursorrules **/.windsurf/** **/.windsurfrules **/.clinerules **/.clinerules/** **/.roo/**
      **/.roorules* **/.kiro/** **/.junie/** **/.gemini/** **/.codex/** **/.opencode/** opencode.json* crush.json .continue/**
      .amazonq/** .augment/** .trae/** .agents/** .agent/** .rules .aider.conf.yml .github/copilot-instructions.md
      .github/instructions/** .github/prompts/** .github/agents/** .github/chatmodes/** **/.mcp.json **/mcp.json
    `),
  },
  {
    what: 'a rule about who reviews changes or who may access what',
    sources: [
      'https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners',
    ],
    globs: wordList(`
      **/CODEOWNERS **/OWNERS **/OWNERS_ALIASES .github/settings.y*ml .github/rulesets/** .mergify.yml bors.toml
      **/auth/** **/firestore.rules **/storage.rules **/database.rules.json
    `),
  },
  {
    what: 'applied to infrastructure or to a database on deployment',
    sources: [
      'https://docs.docker.com/reference/dockerfile/',
      'https://developer.hashicorp.com/terraform/language/files',
      'https://kubernetes.io/docs/concepts/overview/working-with-objects/',
    ],
    globs: wordList(`
      **/Dockerfile* **/*.dockerfile **/Containerfile* docker-bake.* **/docker-compose*.y*ml **/compose.y*ml **/compose.override.y*ml **/*.tf **/*.tf.json **/*.tfvars
      **/*.tfvars.json **/*.tofu **/*.tofu.json **/terragrunt.hcl **/cdk.json **/samconfig.toml
      **/*.bicep **/k8s/** **/kubernetes/** **/kustomization.y*ml **/helm/** **/Chart.yaml **/charts/**/templates/**
      **/serverless.y*ml **/Pulumi*.yaml **/Procfile **/Tiltfile **/skaffold*.y*ml **/wrangler.toml **/wrangler.json*
      fly.toml render.yaml railway.* firebase.json heroku.yml netlify.toml vercel.json Vagrantfile **/ansible.cfg
      **/migrations/** **/db/migrate/** **/alembic/versions/**
    `),
  },
];

const PROTECTED = PROTECTED_KINDS.flatMap(({ globs }) => globs);
/**
 * Prose is protected only as instructions: `k8s/README.md` and `Makefile.md` are not what their folder or name says. Other documents
 * are not excepted: `Dockerfile.feature` and `Jenkinsfile.feature` are built and run.
 */
const PROSE = wordSet('md markdown rst adoc asciidoc');
const FOR_DOCUMENTS = PROTECTED_KINDS.flatMap(({ what, globs }) => (what === AGENTS ? globs : []));

const KIND_OF: ReadonlyMap<string, string> = new Map(
  PROTECTED_KINDS.flatMap(({ what, globs }) => globs.map((glob) => [glob, what] as const)),
);

/** What a file of a protected kind is; undefined for any other file. */
export function protectedKind(name: PathName): string | undefined {
  const glob = coveringGlob(PROSE.has(nameParts(name).extension) ? FOR_DOCUMENTS : PROTECTED, name);
  return glob === undefined ? undefined : KIND_OF.get(glob);
}
