import type { Hit } from '../../../../policy/rules/hit';
import { wordSet } from '../../../../policy/text/word-list';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { MAX_LINE } from './long-lines';
import { openTextAfter, type OpenText } from './toml-texts';

/** Sections of pyproject.toml and setup.cfg about the package, and of tools that only format or report. Other builds than Poetry are not listed: they load code and select what is published. */
const SECTIONS =
  /^(?:project|build-system|dependency-groups|metadata|options|mypy|flake8|coverage|isort|bdist_wheel|egg_info|sdist|tool[.:](?:ruff|mypy|pyright|basedpyright|ty|pyrefly|black|isort|coverage|codespell|flake8|pydocstyle|pylint|bandit|towncrier|typos|poetry|djlint|djhtml))(?![\w-])|^mypy-/;
/** Code that other packages, or a tool, load by its name, such as plugins of pytest, and commands of the package or of a tool. */
const LOADED_SECTIONS = /entry[-_]points|scripts|package_data|data_files|(?:^|[.:-])(?:local-)?plugins/;
const LOADED_KEYS =
  /^(?:addopts|pythonpath|pytest11|command_packages|python_executable|entry[-_]points|(?:gui-)?scripts|(?:[\w-]+[_-])?(?:plugins?|hooks?|require)|(?:pre|post|before|after)[_-][\w-]+)$/i;
/** Files that are published: https://python-poetry.org/docs/pyproject/#include-and-exclude */
const PUBLISHED_KEYS = /^(?:include|packages)$/;

/** Keys that describe the package or set what a tool reports, whatever their section is. */
const PLAIN_KEYS = wordSet(`
  name version description long_description long_description_content_type readme license license-files license_files
  author author_email authors maintainer maintainer_email maintainers email keywords classifiers url homepage
  documentation repository changelog project_urls requires-python python_requires dependencies install_requires requires
  packages zip_safe current_version minversion line-length line_length max-line-length target-version
  select extend-select ignore extend-ignore per-file-ignores fixable unfixable python_version show_error_codes strict
`);
const NAME = String.raw`(?:[\w-]+|"[^"]*"|'[^']*')`;
const NAMES = String.raw`(${NAME}(?:\s*\.\s*${NAME})*)\s*=`;
/**
 * A line that begins below the margin continues a value of setup.cfg, but can be a key or a section if it is the first below a
 * section; in TOML, it can be either. `inner`: keys wherever they are, such as those of a table in braces.
 */
const CFG = { key: /^([\w.-]+)\s*[=:]/, section: /^(\s*\[+\s*[^\]\s]+)/, inner: /^\s*([\w.-]+)\s*[=:]/g };
const TOML = {
  key: new RegExp(String.raw`^\s*${NAMES}`),
  section: /^\s*\[+\s*(["']?[A-Za-z_].*)\]\s*(?:#[^\]]*)?$/,
  inner: new RegExp(String.raw`(?:^|[{,])\s*${NAMES}`, 'g'),
};
/** Setuptools imports a module for `attr:`, and publishes the text of `file:`. */
const CFG_SOURCE = /[=:]\s*(?:attr|file)\s*:/;
/** What a command of the package runs, or the value that setuptools imports. */
const FUNCTION = /=\s*["'][\w.]+:[\w.]+["']|\battr["']?\s*=/;
/** Codes of linters with their number (letters alone could name a plugin), classifiers and options of mypy, which only report or describe. */
const CODE = /^\s*["']?(?:[A-Z]{1,4}\d{2,4}|[A-Z][\w ./()-]* :: [^"']*)["']?,?\s*(?:#.*)?$/;
const MYPY = /^(?:warn|disallow|check|no_implicit|ignore_missing|show)_[a-z_]+$/;
/** An item with a version is a package, which other checks read. */
const PACKAGE = /^(?:\s+|[\w-]+\s*=\s*\[\s*)["']?[A-Za-z][\w.-]*(?:\[[\w,. -]*\])?\s*[<>=~!]=?\s*\d/;

/**
 * Added lines that begin the settings of a tool, or are in them, and those that name code in other sections. A line whose section,
 * or whose key, the hunk does not show is read as one of them, unless its form or its key says otherwise.
 */
export function pythonHits(view: FileView, what: string): Hit[] {
  const forms = view.name.base === 'setup.cfg' ? CFG : TOML;
  return view.file.hunks.flatMap(({ lines }) => {
    let [section, key]: [string | null, string | null] = [null, null];
    let [openText, isUnsure]: [OpenText, boolean] = [null, false];
    return lines.flatMap((line) => {
      if (line.kind === '-') return [];
      const text = line.text.slice(0, MAX_LINE).trimEnd();
      const opened = forms.section.exec(text)?.[1];
      const loadedKey = [...text.matchAll(forms.inner)].map(([, name = '']) => name).find(isLoadedName);
      // Either this line is part of a text of several lines, or the hunk began within one: it is not known which sections are real.
      if (opened !== undefined && openText !== null) isUnsure = true;
      if (opened !== undefined) [section, key] = [isUnsure ? '?' : sectionName(opened, forms === CFG), null];
      else key = loadedKey ?? forms.key.exec(text)?.[1] ?? key;
      const isPlain = /^\s*(?:[#;]|[\]})]*,?$)/.test(text);
      const isSource = forms === CFG && CFG_SOURCE.test(text);
      const found =
        line.kind === '+' && !isPlain && (isSource || isLoaded(section, key, text))
          ? [atLine(view.file, line, what)]
          : [];
      if (text.startsWith(']')) key = null;
      if (forms === TOML) openText = openTextAfter(text, openText);
      return found;
    });
  });
}

/** One spelling of `[project . "scripts"]`. A name with an escape, or below the margin of setup.cfg, is that of no listed section. */
function sectionName(opened: string, isCfg: boolean): string {
  if (opened.includes('\\') || (isCfg && /^\s/.test(opened))) return '?';
  return opened.replaceAll(/["'\s]/g, '').replace(/^\[+/, '');
}

const isLoadedName = (name: string): boolean =>
  name.includes('\\') || name.split('.').some((part) => LOADED_KEYS.test(part.replaceAll(/["'\s]/g, '')));

function isLoaded(section: string | null, key: string | null, text: string): boolean {
  if (key !== null && isLoadedName(key)) return true;
  if (section === 'tool.poetry' && key !== null && PUBLISHED_KEYS.test(key)) return true;
  if (section?.startsWith('tool.poetry.') === true && key === 'path') return true;
  if (section !== null) return !SECTIONS.test(section) || LOADED_SECTIONS.test(section);
  if (FUNCTION.test(text)) return true;
  if (PACKAGE.test(text) || CODE.test(text)) return false;
  const name = key?.replaceAll(/["']/g, '').toLowerCase();
  return name === undefined || (!PLAIN_KEYS.has(name) && !MYPY.test(name));
}
