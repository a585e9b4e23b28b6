import type { Hit } from '../../../../policy/rules/hit';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { MAX_LINE } from './long-lines';

const UNREAD = 'has a form that this rule cannot read';

const TEXT = /"(?:[^"\\]|\\.)*"/g;
const PLAIN = /^(?:[\s{}[\]:,]|true|false|null|[-+.\deE])*$/;

/**
 * An allowlist: changed lines that are not JSON, but which some programs accept, such as names without quotes. The readers of
 * members do not know them. A comment to the end of its line is plain where `hasComments` says that the format has them.
 */
export function jsonFormHits({ file }: FileView, hasComments: boolean): Hit[] {
  return file.hunks.flatMap(({ lines }) =>
    lines
      .filter(({ kind, text }) => {
        const structure = text.slice(0, MAX_LINE).replaceAll(TEXT, '0');
        const code = structure.replace(/\/\/.*/, '');
        // A name whose value is in another line is not compared with what it was before.
        return /:\s*$/.test(code) || (kind !== ' ' && !PLAIN.test(hasComments ? code : structure));
      })
      .map((line) => atLine(file, line, UNREAD)),
  );
}
