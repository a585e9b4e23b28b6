import type { Hit } from '../../../../policy/rules/hit';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { MAX_LINE } from './long-lines';

const PNPM_SETTING = 'is a setting of what is installed and run';
const UNREAD = 'is in a list or map that the hunk does not show';

const TOP = /^["']?([\w-]+)["']?\s*:(.*)$/;
/** A package of the registry with its version, which other checks read; or the name of a catalogue. */
const PACKAGE = /^\s+["']?(?:@[\w.-]+\/)?[\w./-]+["']?\s*:\s*(?:["']?[\^~<>=]{0,2}\s?v?\d[^#]*)?(?:#.*)?$/;
/** A pattern of folders in a list, but not the name of a package. */
const FOLDERS = /^\s*-\s+["']?!?(?!@)[^\s@:/"']+\/[^\s@:"']*["']?\s*(?:#.*)?$/;
/** A value that only a setting has, such as those of `allowBuilds`. */
const FLAG = /^\s+\S+:\s+(?:true|false)\s*$/;

/**
 * Changed lines of pnpm-workspace.yaml, whose members are all settings as in `.npmrc`, but for the folders of packages and the
 * versions of the catalogues. https://pnpm.io/settings
 */
export function pnpmHits({ file }: FileView): Hit[] {
  return file.hunks.flatMap(({ lines }) => {
    // Both sides of the change have their own section.
    const sections: Record<'+' | '-', string | null> = { '+': null, '-': null };
    return lines.flatMap((line) => {
      const text = line.text.slice(0, MAX_LINE).trimEnd();
      const [, name, value = ''] = TOP.exec(text) ?? [];
      const sides = line.kind === ' ' ? (['+', '-'] as const) : [line.kind];
      if (name !== undefined) for (const side of sides) sections[side] = name;
      if (line.kind === ' ' || /^\s*(?:#|$|---$)/.test(text)) return [];
      const what = name === undefined ? nestedKind(line.kind, sections[line.kind], text) : topKind(name, value);
      return what === null ? [] : [atLine(file, line, what)];
    });
  });
}

function topKind(name: string, value: string): string | null {
  return /^(?:packages|catalogs?)$/i.test(name) && /^\s*(?:#.*)?$/.test(value) ? null : PNPM_SETTING;
}

function nestedKind(kind: '+' | '-', section: string | null, text: string): string | null {
  switch (section) {
    case null:
      if (kind === '-') return FLAG.test(text) ? PNPM_SETTING : null;
      return PACKAGE.test(text) || FOLDERS.test(text) ? null : UNREAD;
    case 'packages':
      return text.includes('..') ? PNPM_SETTING : null;
    case 'catalog':
    case 'catalogs':
      return PACKAGE.test(text) ? null : PNPM_SETTING;
    default:
      return PNPM_SETTING;
  }
}
