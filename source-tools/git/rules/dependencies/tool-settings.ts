import type { Hit } from '../../../../policy/rules/rule-maker';
import { wordSet } from '../../../../policy/text/word-list';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { withoutEscapes } from './json-escapes';

/**
 * Manifests also contain settings of tools, with which a tool loads or runs code, as with a file of its own. An added line is
 * held if it begins the settings of a tool, or names code in them. Commands in `scripts` are not, because they change often.
 */
export function toolSettingHits(view: FileView): Hit[] {
  switch (view.name.base) {
    case 'package.json':
      return addedHits(view, namesTool);
    case 'deno.json':
    case 'deno.jsonc':
    case 'jsr.json':
      return addedHits(view, (text) => DENO.test(text));
    case 'pyproject.toml':
    case 'setup.cfg':
      return pythonHits(view);
    default:
      return [];
  }
}

function addedHits(view: FileView, holds: (text: string) => boolean): Hit[] {
  return view
    .lines('+')
    .filter(({ text }) => holds(withoutEscapes(text.slice(0, MAX_LINE))))
    .map((line) => atLine(view.file, line, SETTING));
}

const SETTING = 'is a setting of a tool, which can load or run code';
const MAX_LINE = 2000;

/**
 * Settings of Deno that load plugins, let packages run scripts, grant permissions, or decide which code an import gets.
 * https://docs.deno.com/runtime/fundamentals/configuration/
 */
const DENO =
  /"(?:importMap|lock|allowScripts|plugins|permissions|links|patch|scopes|vendor|nodeModulesDir|jsxImportSource)"\s*:/;

/** Members of package.json that are objects and describe the package, and the conditions in `exports`. */
const OBJECTS = wordSet(`
  author bugs repository funding engines scripts directories man bin exports imports types typesversions browser
  dependencies devdependencies peerdependencies peerdependenciesmeta optionaldependencies overrides resolutions pnpm
  workspaces publishconfig devengines import require node default development production worker workerd deno bun
  edge-light react-native module catalog catalogs contributes
`);
/** Members whose value is a file of the package that its users import or run. */
const FILES = wordSet(`
  main module exports types typings browser bin man directory source style sass svelte import require default node unpkg
  jsdelivr esm cjs development production worker workerd deno bun react-native url
`);
const OBJECT = /"([^"]{1,200})"\s*:\s*\{/g;
/** `"setupFiles": ["./x.js"]`, and `"preset": "./x"`. A program of the shell is a command. */
const LOCAL = /"([^"]{1,200})"\s*:\s*\[?\s*"(?:\.{1,2}|<rootDir>)\/[^"\s]{1,300}"/g;
const NOT_CODE = /\.(?:sh|d\.[cm]?ts)"$/;

function namesTool(text: string): boolean {
  return (
    [...text.matchAll(OBJECT)].some(([, name = '']) => isName(name) && !OBJECTS.has(name.toLowerCase())) ||
    [...text.matchAll(LOCAL)].some(
      ([all, name = '']) => isName(name) && !FILES.has(name.toLowerCase()) && !NOT_CODE.test(all),
    )
  );
}

/** Not a package, a path, a range of versions, or a setting of an extension. */
const isName = (name: string): boolean => /^[\w-]+$/.test(name);

/** Sections of pyproject.toml and setup.cfg about the package, and of tools that only format or report. */
const SECTIONS =
  /^(?:project|build-system|dependency-groups|metadata|options|mypy|flake8|coverage|isort|bdist_wheel|egg_info|sdist|tool[.:](?:ruff|mypy|pyright|basedpyright|ty|pyrefly|black|isort|coverage|flit|uv|setuptools|setuptools_scm|codespell|flake8|pydocstyle|pylint|bandit|towncrier|typos|poetry|hatch|pdm|maturin|djlint|djhtml))(?![\w-])|^mypy-/;
/** Code that other packages, or a tool, load by its name: plugins of pytest, for example. */
const LOADED_SECTIONS = /entry[-_]points|(?:^|[.:-])(?:local-)?plugins/;
const LOADED_KEYS =
  /^\s*["']?(?:addopts|pythonpath|pytest11|command_packages|(?:[\w-]+[_-])?(?:plugins?|hooks?|require)|(?:pre|post|before|after)[_-][\w-]+)["']?\s*=/;

function pythonHits(view: FileView): Hit[] {
  return view.file.hunks.flatMap(({ lines }) => {
    let isLoaded = false;
    return lines.flatMap((line) => {
      if (line.kind === '-') return [];
      const text = line.text.slice(0, MAX_LINE);
      const section = /^\[+\s*["']?([^\]"'\s]+)/.exec(text)?.[1];
      if (section !== undefined) isLoaded = !SECTIONS.test(section) || LOADED_SECTIONS.test(section);
      const isSetting = text.trim() !== '' && !/^\s*[#;]/.test(text) && (isLoaded || LOADED_KEYS.test(text));
      return line.kind === '+' && isSetting ? [atLine(view.file, line, SETTING)] : [];
    });
  });
}
