import type { PathName } from '../../../../policy/text/glob';
import { wordList } from '../../../../policy/text/word-list';

export const wordSet = (text: string): ReadonlySet<string> => new Set(wordList(text));

/** Folders of the modules of a program, of its tests and of examples: what tools find by name is mostly outside them. */
const SOURCES = wordSet(`
  src source sources lib internal pkg include cmd components pages features views controllers models utils helpers
  test tests spec specs __tests__ e2e cypress testing bench benches benchmarks example examples sample samples demo
  demos stories
`);
export const TESTS = wordSet('test tests spec specs __tests__ e2e cypress testing');

/** Folders from which a tool takes all files, wherever the folder is. */
const LOADED = wordSet(`
  dags initializers migrations migrate seeds seeders cron crontab crontabs systemd autostart git-hooks githooks
  build-logic build_logic buildlogic analyzers sourcegenerators meta-inf web-inf
`);

/** Folders of scripts, plugins, settings and infrastructure, if no folder of sources contains them. */
const OPERATED = wordSet(`
  scripts script bin sbin tool tools hack hooks hook plugins plugin extensions extension _ext _extensions addons tasks
  ci cd build dist out target release releases deploy deployment deployments ops devops infra infrastructure iac cdk
  pulumi terraform cloudformation ansible playbooks puppet chef salt packer helm charts k8s kubernetes docker
  containers vagrant provision provisioning provisioners config configs conf configuration settings etc environments
  db database pipelines jobs git gradle maven renv priv fastlane
`);

/** Which folder of a path makes its programs run, or null. */
export function loadedFolder({ folders }: PathName): string | null {
  return folders.find(isLoaded) ?? null;
}

/** `conf.d`, `profile.d` and similar; `Shop.Analyzers`. */
function isLoaded(folder: string): boolean {
  return LOADED.has(folder) || folder.endsWith('.d') || LOADED.has(folder.slice(folder.lastIndexOf('.') + 1));
}

export function operatedFolder({ folders }: PathName): string | null {
  const first = folders.find((folder) => SOURCES.has(folder) || OPERATED.has(folder));
  return first !== undefined && OPERATED.has(first) ? first : null;
}

export function isBelowSources({ folders }: PathName): boolean {
  return folders.some((folder) => SOURCES.has(folder));
}

export function isBelowTests({ folders }: PathName): boolean {
  return folders.some(isTests);
}

function isTests(folder: string): boolean {
  return TESTS.has(folder) || /[.-](?:tests?|specs?|e2e)$/.test(folder);
}
