import type { Hit } from '../../../../policy/rules/rule-maker';
import { wordSet } from '../../../../policy/text/word-list';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { MAX_LINE } from './long-lines';

/** Sections of pyproject.toml and setup.cfg about the package, and of tools that only format or report. */
const SECTIONS =
  /^(?:project|build-system|dependency-groups|metadata|options|mypy|flake8|coverage|isort|bdist_wheel|egg_info|sdist|tool[.:](?:ruff|mypy|pyright|basedpyright|ty|pyrefly|black|isort|coverage|flit|setuptools|setuptools_scm|codespell|flake8|pydocstyle|pylint|bandit|towncrier|typos|poetry|hatch|maturin|djlint|djhtml))(?![\w-])|^mypy-/;
/** Code that other packages, or a tool, load by its name, such as plugins of pytest, and commands of the package or of a tool. */
const LOADED_SECTIONS = /entry[-_]points|scripts|(?:^|[.:-])(?:local-)?plugins/;
const LOADED_KEYS =
  /^["']?(?:addopts|pythonpath|pytest11|command_packages|(?:[\w-]+[_-])?(?:plugins?|hooks?|require)|(?:pre|post|before|after)[_-][\w-]+)["']?$/;

/** Keys that describe the package or set what a tool reports, whatever their section is. */
const PLAIN_KEYS = wordSet(`
  name version description long_description long_description_content_type readme license license-files license_files
  author author_email authors maintainer maintainer_email maintainers email keywords classifiers url homepage
  documentation repository changelog project_urls requires-python python_requires dependencies install_requires requires
  packages zip_safe current_version minversion line-length line_length max-line-length target-version
  select extend-select ignore extend-ignore per-file-ignores fixable unfixable python_version show_error_codes strict
`);
/** A line that begins below the margin continues a value of setup.cfg; in TOML, it can be a key. */
const CFG = { key: /^([\w.-]+)\s*[=:]/, section: /^\[+\s*([^\]\s]+)/ };
const TOML = {
  key: /^\s*(["']?[\w.-]+["']?)\s*=/,
  section: /^\s*\[+\s*["']?([A-Za-z_][^\]"'\s]*)(?=[\]"'\s])[^\]]*\]+\s*(?:#.*)?$/,
};
/** Codes of linters and options of mypy, which only report. */
const CODE = /^\s*["']?[A-Z]{1,4}\d{2,4}["']?,?\s*(?:#.*)?$/;
const MYPY = /^(?:warn|disallow|check|no_implicit|ignore_missing|show)_[a-z_]+$/;
/** An item with a version is a package, which other checks read. */
const PACKAGE = /^\s+["']?[A-Za-z][\w.-]*(?:\[[\w,. -]*\])?\s*[<>=~!]=?\s*\d/;

/**
 * Added lines that begin the settings of a tool, or are in them, and those that name code in other sections. A line whose section,
 * or whose key, the hunk does not show is read as one of them, unless its form or its key says otherwise.
 */
export function pythonHits(view: FileView, what: string): Hit[] {
  const forms = view.name.base === 'setup.cfg' ? CFG : TOML;
  return view.file.hunks.flatMap(({ lines }) => {
    let [section, key]: [string | null, string | null] = [null, null];
    return lines.flatMap((line) => {
      if (line.kind === '-') return [];
      const text = line.text.slice(0, MAX_LINE).trimEnd();
      const opened = forms.section.exec(text)?.[1];
      if (opened !== undefined) [section, key] = [opened, null];
      else key = forms.key.exec(text)?.[1] ?? key;
      const isPlain = /^\s*(?:[#;]|[\]})]*,?$)/.test(text);
      const found =
        line.kind === '+' && !isPlain && isLoaded(section, key, text) ? [atLine(view.file, line, what)] : [];
      if (text.startsWith(']')) key = null;
      return found;
    });
  });
}

function isLoaded(section: string | null, key: string | null, text: string): boolean {
  if (key !== null && LOADED_KEYS.test(key)) return true;
  if (section !== null) return !SECTIONS.test(section) || LOADED_SECTIONS.test(section);
  if (PACKAGE.test(text) || CODE.test(text)) return false;
  const name = key?.replaceAll(/["']/g, '').toLowerCase();
  return name === undefined || (!PLAIN_KEYS.has(name) && !MYPY.test(name));
}
