/** The shop's extension as a team's module exports it: for what loads COUNTERSIGN_EXTENSIONS. */
export { shopExtension as extension } from './shop-bundle';
