export { type Runtime, type RuntimeOptions, RuntimeInUse, startRuntime } from './runtime';
export { useExistingPostgres } from './postgres';
export { startTemporalServer } from './temporal-server';
export { type Say } from './processes';
