export { type Runtime, type RuntimeOptions, RuntimeInUse, startRuntime } from './runtime';
export { useExistingPostgres } from './postgres';
export { startTemporalServer } from './temporal-server';
export { findInstalledCli } from './temporal-cli';
export { registerSearchAttributes } from './search-attributes';
export { type Say } from './processes';
