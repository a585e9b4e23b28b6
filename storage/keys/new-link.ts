import { enrollmentLink, newOneTimeKey } from '../../signing/enrollment-link';
import type { SigningKey } from '../../signing/keys';
import { signEnrollment } from '../../signing/registry-entry';
import type { Enrollments } from './enrollments';

export interface LinkRequest {
  /** Id of the person. */
  readonly person: string;
  readonly tenants: readonly string[];
  /** Public origin of the gateway: https, or http on localhost. Its host is the relying party of the passkey. */
  readonly publicUrl: string;
  readonly validMs: number;
  readonly now: Date;
}

export interface NewLink {
  /** Contains the one-time private key: give it to the person only. It is not stored. */
  readonly link: string;
  /** Id of the one-time key. Revoking it revokes the link, and the passkey that was made with it. */
  readonly keyId: string;
  readonly expiresAt: string;
}

/**
 * Makes a one-time link, by which a person enrols one passkey, and stores the operator's statement. Throws TypeError for a request that
 * may not be signed.
 */
export async function newLink(
  enrollments: Pick<Enrollments, 'add'>,
  { person, tenants, publicUrl, validMs, now }: LinkRequest,
  operator: SigningKey & { readonly demo: boolean },
): Promise<NewLink> {
  const key = newOneTimeKey();
  const { origin, hostname } = new URL(publicUrl);
  const { keyId, publicKey } = key;
  const expiresAt = new Date(now.getTime() + validMs).toISOString();
  const offer = signEnrollment(
    {
      subject: { type: 'person', id: person },
      rights: ['read', 'answer'],
      keyId,
      publicKey,
      tenants: [...tenants],
      rpId: hostname,
      origins: [origin],
      demo: operator.demo,
      issuedAt: now.toISOString(),
      expiresAt,
    },
    operator,
  );
  await enrollments.add(offer);
  return { link: enrollmentLink(origin, key), keyId, expiresAt };
}
