export { type Runtime, type RuntimeOptions, RuntimeInUse, startRuntime } from './runtime';
export { useExistingPostgres } from './postgres';
export { startTemporalServer } from './temporal-server';
export { findInstalledCli } from './temporal-cli';
export { type Say } from './processes';
