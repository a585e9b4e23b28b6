export { review } from './review';
