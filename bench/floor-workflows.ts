export * from './fixed-floor-workflow';
export * from './floor-workflow';
