import type { PathName } from '../../../../policy/text/glob';
import { wordSet } from '../../../../policy/text/word-list';
import type { NameParts } from './name-parts';
import { isBelowTests, loadedFolder, operatedFolder } from './places';

/** Formats that only translations have. */
const TRANSLATIONS = wordSet('po pot ftl arb xlf xliff strings stringsdict xcstrings');
const TRANSLATED = wordSet(`
  locale locales i18n l10n lang langs language languages translation translations intl messages lc_messages
`);
const TRANSLATED_FORMATS = wordSet('json json5 yaml yml properties xml');

/** Folders of expected and given data, which only tests read. */
const TEST_DATA = wordSet(`
  testdata test-data test_data __fixtures__ test-fixtures test_fixtures __snapshots__ goldens golden
`);
/** The same, if a folder of tests contains them. */
const DATA_OF_TESTS = wordSet(`
  fixtures fixture data cases samples snapshots cassettes corpus vectors inputs outputs input output expected examples
  mocks payloads
`);
const TEST_FORMATS = wordSet(
  'json jsonl ndjson json5 yaml yml toml xml csv tsv txt ini properties snap diff patch html log golden expected approved out stdout stderr',
);

/** Words in names that tools find wherever the file is. */
const TOOL_WORDS = wordSet(`
  config conf cfg configuration settings package lock composer tsconfig jsconfig compose docker workflow action cargo
  pyproject pom setup application manifest project workspace values chart kustomization playbook deployment requirements
  constraints cmakelists conanfile
`);

/** The same for whole names. */
const TOOL_FILES = wordSet('pytest.ini tox.ini mise.toml');

export const isTranslation = ({ extension }: NameParts): boolean => TRANSLATIONS.has(extension);

/** Whether only tests, or the language of the interface, depend on a data file. */
export function isOrdinaryData(name: PathName, parts: NameParts): boolean {
  if (loadedFolder(name) !== null || isBelowOperated(name) || TOOL_FILES.has(name.base)) return false;
  if ([parts.stem, ...parts.words, ...parts.inner].some((word) => TOOL_WORDS.has(word))) return false;
  const { folders } = name;
  if (TEST_FORMATS.has(parts.extension)) {
    if (folders.some((folder) => TEST_DATA.has(folder))) return true;
    if (isBelowTests(name) && folders.some((folder) => DATA_OF_TESTS.has(folder))) return true;
  }
  return (
    TRANSLATED_FORMATS.has(parts.extension) &&
    (folders.some((folder) => TRANSLATED.has(folder)) || isBundle(name, parts))
  );
}

/** Translations of Rails are in `config/locales`, and those of Phoenix in `priv/gettext`. */
function isBelowOperated(name: PathName): boolean {
  const folder = operatedFolder(name, 'framework');
  return folder !== null && folder !== 'config' && folder !== 'priv';
}

/** Texts by language of Java, and of Android: `messages_de.properties`, `res/values-de/strings.xml`. */
function isBundle({ folders }: PathName, { stem, extension }: NameParts): boolean {
  if (extension === 'properties') return /^(?:\w*messages|labels|strings|texts)(?:_[a-z]{2,3}){0,3}$/.test(stem);
  const [res, values = ''] = folders.slice(-2);
  return extension === 'xml' && res === 'res' && /^values(?:-|$)/.test(values) && /^(?:strings|plurals)$/.test(stem);
}

/** Formats whose content a patch shows only as binary; `git_binary` reports it. */
const BINARY = wordSet('png jpg jpeg gif webp avif ico bmp woff woff2 ttf otf eot mp3 mp4 webm ogg wav pdf');
export const isMedia = ({ extension }: NameParts): boolean => BINARY.has(extension);
