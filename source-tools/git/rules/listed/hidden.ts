import { wordList } from '../../../../policy/text/word-list';

/**
 * Hidden files that ordinary changes contain: documents, lists of names, and settings of tools that only format or report.
 * Not those in which a setting can name code to run, such as a plugin.
 */
export const LISTED_HIDDEN: readonly string[] = wordList(`
  **/.gitkeep **/.keep **/.ignore **/.rgignore **/.prettierignore **/.git-blame-ignore-revs **/.mailmap
  **/.editorconfig **/.clang-format **/.rustfmt.toml **/.swiftformat **/.stylua.toml **/.isort.cfg **/.typos.toml
  **/.yamllint **/.yamllint.yml **/.yamllint.yaml **/.markdownlint.json **/.markdownlint.yml **/.markdownlint.yaml
  **/.env.example **/.env.sample **/.env.template
  .github/*.md .github/ISSUE_TEMPLATE/*.md .github/ISSUE_TEMPLATE/*.yml .github/ISSUE_TEMPLATE/*.yaml
  .github/PULL_REQUEST_TEMPLATE/*.md .github/DISCUSSION_TEMPLATE/*.yml .github/release.yml
`);
