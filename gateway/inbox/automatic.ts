/**
 * Header of a request that the page makes by itself, for example because a review changed. It does not keep the session in use, so that
 * an unattended page is logged out.
 */
export const AUTOMATIC_HEADER = 'countersign-automatic';
