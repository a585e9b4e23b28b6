import { z } from 'zod';
import { Envelope } from '../contracts/diff';
import { Plan } from '../contracts/plan';

/** As large as a bundle that can be parsed, in UTF-16 units. PostgreSQL cannot store NUL in a text. */
const BundleText = z
  .string()
  .min(1)
  .max(1024 * 1024)
  .refine((text) => !text.includes('\0'), 'expected no NUL');

/** Largest JSON of a revision with its plans, in bytes. */
export const MAX_REVISION_BYTES = 32 * 1024 * 1024;

/** A revision that an operator signed, with what the signature binds: the text of the bundle and every plan compiled from it. */
export const SignedRevision = z.strictObject({
  envelope: Envelope,
  bundleText: BundleText,
  plans: z.array(Plan).min(1).max(500),
});
export type SignedRevision = z.infer<typeof SignedRevision>;

/** The newest revision in force, and the number that the next one must have. Untrusted until its signature is verified. */
export const NewestRevision = z.strictObject({
  next: z.int().min(1),
  newest: z.strictObject({ envelope: Envelope, bundleText: BundleText }).nullable(),
});
export type NewestRevision = z.infer<typeof NewestRevision>;
