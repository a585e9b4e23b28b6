import type { Hit } from '../../../../policy/rules/hit';
import { wordSet } from '../../../../policy/text/word-list';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { addedTomlLines, END, items, movedTomlHits, TEXT, TEXTS, VERSION_RANGE, type TomlLine } from './toml-lines';

const DECIDES = 'decides which code is built or run';

/** https://doc.rust-lang.org/cargo/reference/manifest.html */
const PACKAGES = /^(?:workspace\.|target\..+\.)?(?:(?:dev|build)-)?dependencies(?:\.[\w-]+)?$/;
const TABLES = /^(?:package|features|badges|workspace\.package|(?:workspace\.)?lints(?:\.\w+)?|profile\.[\w.-]+)$/;
/** Targets that are built only on demand. */
const TARGETS = wordSet('bench example test');
const TARGET = /^(?:harness=(?:true|false)|path="(?!\/)(?:[\w-]+[/.])*rs")\s*(?:#.*)?$/;
/** Tables with keys of their own, which may also be in the lines around a change. */
const KNOWN = wordSet('lib bin workspace');
/** Settings of sites that build the documentation. */
const METADATA = wordSet('package.metadata.docs.rs package.metadata.playground');
/** Tables in which any name is one of a feature, a package or a finding of the compiler. */
const NAMED = /^(?:features|badges|(?:workspace\.)?lints(?:\.\w+)?)$/;

/** Keys that describe the package, or how it is compiled but not from which files and with which programs. */
const PLAIN_KEYS = wordSet(`
  name version edition description license license-file authors repository homepage documentation readme keywords
  categories rust-version features default-features default_features optional required-features bench doc opt-level debug
  lto doc-scrape-examples codegen-units strip incremental split-debuginfo panic all-features rustdoc-args rustc-args
  targets default-target level priority
`);
/** Lists whose items are not the names of features. */
const OTHER_LISTS = wordSet('members default-members include exclude rustflags cargo-features crate-type metabuild');

const OF_PACKAGE = /^(?:(?:rust-)?version|edition|resolver)$/;

const NAME = String.raw`(?:[\w-]+|"[\w-]+"|'[\w-]+')`;
const KEY = new RegExp(String.raw`^(${NAME}(?:\s*\.\s*${NAME})*)\s*=\s*(.*)$`);
const FEATURE = String.raw`["'](?:dep:)?[\w+-]+(?:\??/[\w+-]+)?["']`;
const FEATURES = String.raw`\[\s*(?:${items(FEATURE)})?(?:\]|$)`;
const LEVEL = String.raw`["'](?:allow|expect|warn|deny|forbid)["']`;
const MEMBER = [
  String.raw`version\s*=\s*${VERSION_RANGE}`,
  String.raw`features\s*=\s*${TEXTS}`,
  String.raw`(?:default[-_]features|optional|workspace)\s*=\s*(?:true|false)`,
  String.raw`level\s*=\s*${LEVEL}`,
  String.raw`priority\s*=\s*-?\d+`,
  String.raw`check-cfg\s*=\s*\[[^\]]*\]`,
].join('|');
const MEMBERS = String.raw`\{\s*(?:${MEMBER})(?:\s*,\s*(?:${MEMBER}))*\s*\}`;
/** A table whose list continues in the next lines. */
const OPEN_MEMBERS = String.raw`\{\s*(?:(?:${MEMBER})\s*,\s*)*(?:features|check-cfg)\s*=\s*\[`;

const FEATURE_LIST = new RegExp(`^${FEATURES}${END}`);
const PACKAGE_OR_LEVEL = new RegExp(`^(?:${VERSION_RANGE}|${LEVEL}|${MEMBERS}|${OPEN_MEMBERS})${END}`);
const LISTED = new RegExp(String.raw`^${items(TEXT)}(?:\]\s*(?:\}\s*)?)?(?:,\s*)?(?:#.*)?$`);
/** The name of a folder can look like a feature of a package: only where the list is known to be one of features. */
const ITEMS = new RegExp(String.raw`^${items(FEATURE)}(?:\]\s*)?(?:,\s*)?(?:#.*)?$`);
const ITEMS_OF_UNKNOWN = new RegExp(
  String.raw`^${items(String.raw`["'](?:dep:)?[\w+-]+["']`)}(?:\]\s*)?(?:,\s*)?(?:#.*)?$`,
);
/** A condition that the compiler is to know, which no other list has. */
const CONDITION = new RegExp(String.raw`^'cfg\([^'\\]*\)'\s*,?${END}`);

/** An allowlist: added lines of Cargo.toml that may do more than describe the package or name packages and features. */
export function cargoHits({ file }: FileView): Hit[] {
  const added = addedTomlLines(file).filter((read) => !isPlain(read));
  const hits = [...added.map(({ line }) => line), ...lostLines(file)].map((line) => atLine(file, line, DECIDES));
  return [...hits, ...movedTomlHits(file, groupOf)];
}

const groupOf = (table: string): string => (PACKAGES.test(table) ? 'packages' : table);

function isPlain({ text, table, isHeader, list, isUpdate }: TomlLine): boolean {
  if (table?.includes('\\') === true) return false;
  if (isHeader) return isPlainTable(table ?? '');
  if (table !== null && !isPlainTable(table) && !KNOWN.has(table)) return false;
  if (isUpdate) return true;
  const [, name, value = ''] = KEY.exec(text) ?? [];
  if (name === undefined) return isPlainItem(text, table, list);
  return /^[\w-]+$|^["'][^"']*["']$/.test(name)
    ? isPlainMember(name.replaceAll(/["']/g, ''), value, table)
    : isPlainPath(name, value);
}

const isPlainTable = (table: string): boolean =>
  PACKAGES.test(table) || TABLES.test(table) || TARGETS.has(table) || METADATA.has(table);

function isPlainItem(text: string, table: string | null, list: string | null): boolean {
  if (CONDITION.test(text)) return list === null || list === 'check-cfg';
  const isOfFeatures = table !== null && (NAMED.test(table) || PACKAGES.test(table));
  if (list === null) return (isOfFeatures ? ITEMS : ITEMS_OF_UNKNOWN).test(text);
  return PLAIN_KEYS.has(list) ? LISTED.test(text) : !OTHER_LISTS.has(list) && ITEMS.test(text);
}

/** `name.workspace = true`, and a member of a package or of a finding: `serde.version = "1"`. */
function isPlainPath(path: string, value: string): boolean {
  const [, member] = /^[\w-]+\.([\w-]+)$/.exec(path) ?? [];
  if (member === 'workspace') return /^true\s*(?:#.*)?$/.test(value);
  return member !== undefined && PLAIN_KEYS.has(member) && !OPENS.test(value);
}

/** A table, or a text of several lines. */
const OPENS = /^(?:\{|"""|''')/;

function isPlainMember(key: string, value: string, table: string | null): boolean {
  // In a list of packages, each name is one of a package.
  if (table?.endsWith('dependencies') === true && OF_PACKAGE.test(key)) return false;
  if (key === 'resolver') return /^["'][23]["']/.test(value);
  if (table !== null && TARGETS.has(table) && TARGET.test(`${key}=${value}`)) return true;
  if (key === 'publish') return /^false\b/.test(value);
  if (key === 'workspace')
    return table !== null && (PACKAGES.test(table) || table === 'lints') && /^true\b/.test(value);
  if (PLAIN_KEYS.has(key)) return !OPENS.test(value) || PACKAGE_OR_LEVEL.test(value);
  if (OTHER_LISTS.has(key)) return false;
  if (table !== null && !NAMED.test(table) && !PACKAGES.test(table)) return false;
  return PACKAGE_OR_LEVEL.test(value) || FEATURE_LIST.test(value);
}

/** Lines that keep the package from being published, or from having a build script, which the patch removes. */
function lostLines({ hunks }: FileView['file']) {
  return hunks.flatMap(({ lines }) => {
    const kept = new Set(lines.flatMap(({ kind, text }) => (kind === '-' ? [] : [withoutSpace(text)])));
    return lines.filter(
      ({ kind, text }) =>
        kind === '-' &&
        /^(?:publish|build|auto\w+)=(?:false|\[)/.test(withoutSpace(text)) &&
        !kept.has(withoutSpace(text)),
    );
  });
}

const withoutSpace = (text: string): string => text.replaceAll(/["'\s]/g, '');
