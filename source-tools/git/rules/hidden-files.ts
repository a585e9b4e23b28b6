import { coveringGlob, type PathName } from '../../../policy/text/glob';
import { wordList } from '../../../policy/text/word-list';

/** Files and folders whose name begins with a dot. The last of the protected kinds, so that a file of another kind is found as such. */
export const HIDDEN: readonly string[] = ['**/.*', '**/.*/**'];

/** Hidden files that ordinary changes contain: documents, lists of names, and settings that only format or report. */
const ORDINARY_HIDDEN: readonly string[] = wordList(`
  **/.gitignore **/.gitkeep **/.keep **/.ignore **/.rgignore **/.npmignore **/.dockerignore **/.helmignore
  **/.eslintignore **/.prettierignore **/.stylelintignore **/.markdownlintignore **/.gcloudignore **/.vercelignore
  **/.openapi-generator-ignore **/.git-blame-ignore-revs **/.mailmap **/.editorconfig **/.nojekyll
  **/.env.example **/.env.sample **/.env.template **/.*.example **/.nvmrc **/.*-version **/.tool-versions
  **/.prettierrc* **/.eslintrc* **/.stylelintrc* **/.markdownlint* **/.yamllint* **/.commitlintrc* **/.babelrc*
  **/.swcrc **/.browserslistrc **/.jshintrc **/.remarkrc* **/.textlintrc* **/.htmlhintrc **/.cspell.* **/.typos.toml
  **/.rubocop*.yml **/.pylintrc **/.flake8 **/.isort.cfg **/.ruff.toml **/.golangci.* **/.clang-format **/.clang-tidy
  **/.rustfmt.toml **/.swiftlint.yml **/.swiftformat **/.scalafmt.conf **/.formatter.exs **/.credo.exs **/.luacheckrc
  **/.stylua.toml **/.sqlfluff **/.shellcheckrc **/.hadolint.* **/.vale.ini **/.graphqlrc* **/.oxlintrc* **/.oxfmtrc*
  **/.knip.* **/.size-limit.* **/.ncurc* **/.terraform-docs.yml **/.all-contributorsrc
  **/.release-please-manifest.json **/.bumpversion.cfg **/.cz.toml **/.changeset/** **/.sqlx/** **/.storybook/**
  **/.vitepress/** **/.well-known/** **/.metadata **/.nycrc* **/.c8rc* **/.mocharc* **/.taprc **/.simplecov
  **/.coveragerc **/.codecov.y*ml
  .github/ISSUE_TEMPLATE/** .github/PULL_REQUEST_TEMPLATE/** .github/DISCUSSION_TEMPLATE/** .github/*.md .github/FUNDING.yml .github/release.yml
  .github/labeler.yml
`);

/** Whether the default list covers the file only because it is hidden, although ordinary changes contain such files. */
export function isOrdinaryHidden(glob: string, name: PathName): boolean {
  return HIDDEN.includes(glob) && coveringGlob(ORDINARY_HIDDEN, name) !== undefined;
}
