import { z } from 'zod';

/** The name of a validator in a bundle: it becomes the second half of the id. */
export const ValidatorName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{1,62}$/, 'expected snake_case, 2 to 63 characters')
  .describe('Name of the validator in snake_case; its id is guardian.<name> or safety.<name>, by its level.');
