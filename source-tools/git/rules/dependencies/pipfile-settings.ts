import type { Hit } from '../../../../policy/rules/hit';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { addedTomlLines, movedTomlHits, packageLine, TEXT, TEXTS, type TomlLine } from './toml-lines';

const SETTING = 'is a setting of what is installed and run';

/** https://docs.pipenv.org/en/latest/pipfile.html */
const TABLES = /^(?:dev-packages|packages|requires)$/;
const PACKAGE = packageLine([
  String.raw`extras\s*=\s*${TEXTS}`,
  String.raw`(?:markers|sys_platform|platform_machine|platform_system|os_name|python_version)\s*=\s*${TEXT}`,
]);

/** An allowlist: added lines of a Pipfile that do more than name a package of the registry and its version. */
export function pipfileHits({ file }: FileView): Hit[] {
  const added = addedTomlLines(file).filter((read) => !isPlain(read));
  return [...added.map(({ line }) => atLine(file, line, SETTING)), ...movedTomlHits(file, groupOf)];
}

const groupOf = (table: string): string => (table.endsWith('packages') ? 'packages' : table);

function isPlain({ text, table, isHeader }: TomlLine): boolean {
  if (table !== null && !TABLES.test(table)) return false;
  if (table?.endsWith('packages') === true && /^["']?python(?:_full)?_version\b/.test(text)) return false;
  return isHeader || PACKAGE.test(text);
}
