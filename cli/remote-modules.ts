/**
 * The parts of commands that reach a database, Temporal, a model or embedded servers. A command loads its part when it runs,
 * so that `--help` and usage errors do not wait for drivers. Tests replace entries.
 */
export const remoteModules = {
  reviews: () => import('./reviews/connect.js'),
  gateway: () => import('./gateway/connect.js'),
  keys: () => import('./keys/registry.js'),
  evidence: () => import('./evidence/bundles.js'),
  ledger: () => import('./evidence/verify-ledger.js'),
  archive: () => import('./archive/archive.js'),
  breakers: () => import('./breaker/breakers.js'),
  operator: () => import('./operator/records.js'),
  judge: () => import('./judge/evaluate.js'),
  dev: () => import('./servers/dev.js'),
  setup: () => import('./servers/setup.js'),
  policy: () => import('./policy/publish.js'),
  targetInit: () => import('./operator/target-init.js'),
  init: () => import('./init/initialize.js'),
  manifests: () => import('./init/manifests/write-manifests.js'),
  up: () => import('./servers/up.js'),
  doctor: () => import('./doctor/doctor.js'),
};

type Loader<Module> = () => Promise<Omit<Module, 'default'>>;
export type RemoteModules = {
  readonly [Name in keyof typeof remoteModules]: Loader<Awaited<ReturnType<(typeof remoteModules)[Name]>>>;
};
