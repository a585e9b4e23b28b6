export { breaker } from './breaker';
export { review } from './review';
