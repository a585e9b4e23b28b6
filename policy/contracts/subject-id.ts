import { z } from 'zod';

/**
 * Id of a person, agent or service in the key registry, and of a person in the policy. One spelling only: if `Alice` and `alice`
 * were two people, the requester could approve their own change under the other spelling.
 */
export const SubjectId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._@+-]{0,199}$/,
    'expected 1 to 200 of a-z 0-9 . _ @ + - that start with a letter or digit, without a prefix such as "person:"',
  );
export type SubjectId = z.infer<typeof SubjectId>;
