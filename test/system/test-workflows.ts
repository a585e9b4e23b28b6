export * from './local-step-workflow';
export * from './requester-workflow';
export * from './run-ahead-workflow';
export * from './stuck-workflow';
