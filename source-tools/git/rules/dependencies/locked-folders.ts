import type { Hit } from '../../../../policy/rules/hit';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { withoutEscapes } from './json-escapes';
import { MAX_LOCK_LINE } from './long-lines';

/** How each lock file says that a package is a folder or an archive of the tree. Patterns are anchored or have a fixed start. */
const NPM = /"resolved"\s*:\s*"(?!https?:)|"link"\s*:\s*true/;
const PNPM = /\b(?:directory|tarball):\s*["']?(?!https?:|[\s"'])|:\s+["']?(?:link|file):/;
/** Yarn itself patches some packages. */
const YARN = /@(?:npm:)?(?:file|link|portal|exec):|@patch:(?!.{0,300}(?:builtin<|~builtin))/;
const BUN = /@(?:file|link):/;
const TOML = /^type\s*=\s*"(?:directory|file)"|\bsource\s*=\s*\{\s*(?:directory|path|editable|virtual)\s*=\s*"(?!\.")/;
const PYLOCK = /^\[+packages\.(?:directory|archive)\]|\b(?:directory|archive|path)\s*=/;
const PIPFILE = /"(?:path|file)"\s*:\s*"/;
const COMPOSER = /"type"\s*:\s*"path"/;
const GEMFILE = /^\s+remote:\s*(?!https?:|\.\s*$|\s)/;

const FORMS: ReadonlyMap<string, RegExp> = new Map([
  ['package-lock.json', NPM],
  ['npm-shrinkwrap.json', NPM],
  ['pnpm-lock.yaml', PNPM],
  ['yarn.lock', YARN],
  ['bun.lock', BUN],
  ['poetry.lock', TOML],
  ['uv.lock', TOML],
  ['pdm.lock', /^path\s*=/],
  ['pylock.toml', PYLOCK],
  ['pipfile.lock', PIPFILE],
  ['composer.lock', COMPOSER],
  ['gemfile.lock', GEMFILE],
  ['gems.locked', GEMFILE],
]);

/** Added lines of a lock file that install a package from the tree, which has no checksum and replaces that of the registry. */
export function folderHits(view: FileView): Hit[] {
  const form = FORMS.get(view.name.base);
  if (form === undefined) return [];
  return view
    .lines('+')
    .filter(({ text }) => form.test(withoutEscapes(text.slice(0, MAX_LOCK_LINE))))
    .map((line) => atLine(view.file, line, 'installs a package from a local folder or archive'));
}
