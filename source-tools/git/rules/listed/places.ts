import type { PathName } from '../../../../policy/text/glob';
import { wordSet } from '../../../../policy/text/word-list';
import type { Language } from './languages';

/** Folders of the modules of a program, of its tests and of examples: what tools find by name is mostly outside them. */
const SOURCES = wordSet(`
  src source sources lib internal pkg include cmd components pages features views controllers models utils helpers
  test tests spec specs __tests__ e2e cypress testing bench benches benchmarks example examples sample samples demo
  demos stories
`);
const TESTS = wordSet('test tests spec specs __tests__ e2e cypress testing');

/** Folders from which a tool takes all files, wherever the folder is. */
const LOADED = wordSet(`
  dags initializers migrations seeders git-hooks githooks build-logic build_logic buildlogic meta-inf web-inf
`);

/** Folders of infrastructure, of releases and of programs for the build, if no folder of sources contains them. */
const OPERATED = wordSet(`
  scripts script ci cd deploy deployment deployments ops devops infra infrastructure iac cdk pulumi terraform
  cloudformation ansible playbooks puppet chef cookbooks salt packer helm k8s kubernetes docker vagrant provision
  provisioning provisioners pipelines fastlane functions lambda lambdas magefiles xtask derive macro macros
  gradle maven
`);
/** Folders of plugins, settings and tools, whose scripts are loaded one by one, if no folder of sources contains them. */
const LOADED_SCRIPTS = wordSet(`
  bin sbin tool tools hack hooks hook plugin plugins extension extensions ext addons tasks middleware build dist out
  target config configs conf configuration settings etc environments git renv priv formula casks mocks cron
  crontab crontabs systemd autostart migrate seeds _data
`);
/** The same for Ruby and PHP, whose frameworks run what is in these. */
const LOADED_BY_FRAMEWORKS = wordSet('db database');

/** Which folder of a path makes its programs run, or null. */
export function loadedFolder({ folders }: PathName): string | null {
  return folders.find(isLoaded) ?? null;
}

/** Also `conf.d`, `profile.d` and similar. */
const isLoaded = (folder: string): boolean => LOADED.has(folder) || folder.endsWith('.d');

/** The first folder on the way to the file that tools take programs from, if no folder of sources contains it. */
export function operatedFolder({ folders }: PathName, language: Language): string | null {
  const first = folders.find((folder) => SOURCES.has(folder) || isOperated(folder, language));
  return first === undefined || SOURCES.has(first) ? null : first;
}

/** By the last word: `mu-plugins`, `edge-functions`, `_ext`, `__mocks__`. */
function isOperated(folder: string, language: Language): boolean {
  return [folder, lastWord(folder)].some(
    (word) =>
      OPERATED.has(word) ||
      (language !== 'compiled' && LOADED_SCRIPTS.has(word)) ||
      (language === 'framework' && LOADED_BY_FRAMEWORKS.has(word)),
  );
}

const lastWord = (folder: string): string => folder.split(/[-_.]+/).findLast((word) => word !== '') ?? '';

export function isBelowSources({ folders }: PathName): boolean {
  return folders.some((folder) => SOURCES.has(folder));
}

export function isBelowTests({ folders }: PathName): boolean {
  return folders.some(isTests);
}

function isTests(folder: string): boolean {
  return TESTS.has(folder) || /[.-](?:tests?|specs?|e2e)$/.test(folder);
}
