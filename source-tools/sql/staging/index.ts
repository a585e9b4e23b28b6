export { sqlCasEffects } from './cas-effects';
export { sqlDryRunEffects } from './dry-run-effects';
