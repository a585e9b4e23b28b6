import type { Hit } from '../../../../policy/rules/hit';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { addedTomlLines, VERSION_RANGE, type TomlLine } from './toml-lines';

const SETTING = 'is a setting of what is installed and run';

/** https://docs.pipenv.org/en/latest/pipfile.html */
const TABLES = /^(?:dev-packages|packages|requires)$/;
const TEXT = String.raw`(?:"[^"\\}]*"|'[^'}]*')`;
const MEMBER = [
  String.raw`version\s*=\s*${VERSION_RANGE}`,
  String.raw`extras\s*=\s*\[\s*(?:${TEXT}\s*(?:,\s*${TEXT}\s*)*,?\s*)?\]`,
  String.raw`(?:markers|sys_platform|platform_machine|platform_system|os_name|python_version)\s*=\s*${TEXT}`,
].join('|');
const PACKAGE = new RegExp(
  String.raw`^["']?[\w.-]+["']?\s*=\s*(?:${VERSION_RANGE}|\{\s*(?:(?:${MEMBER})\s*,\s*)*version\s*=\s*${VERSION_RANGE}(?:\s*,\s*(?:${MEMBER}))*\s*\})\s*(?:#.*)?$`,
);

/** An allowlist: added lines of a Pipfile that do more than name a package of the registry and its version. */
export function pipfileHits({ file }: FileView): Hit[] {
  return addedTomlLines(file)
    .filter((read) => !isPlain(read))
    .map(({ line }) => atLine(file, line, SETTING));
}

function isPlain({ text, table, isHeader }: TomlLine): boolean {
  if (table !== null && !TABLES.test(table)) return false;
  if (table?.endsWith('packages') === true && /^["']?python(?:_full)?_version\b/.test(text)) return false;
  return isHeader || PACKAGE.test(text);
}
