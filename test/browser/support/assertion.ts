import type { Page } from 'playwright-core';

export interface AskedAssertion {
  readonly challenge: Uint8Array;
  /** Base64. */
  readonly credentialId: string;
  readonly userVerification: 'required' | 'discouraged';
}

/** In base64. */
export interface MadeAssertion {
  readonly signature: string;
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
}

interface Credentials {
  get(options: object): Promise<{ readonly response: Readonly<Record<keyof MadeAssertion, ArrayBuffer>> }>;
}

/** Asks the authenticator of a page for an assertion, as code on that page could. */
export async function assertionOf(page: Page, asked: AskedAssertion): Promise<MadeAssertion> {
  await page.bringToFront();
  return await page.evaluate(
    async ({ challenge, credentialId, userVerification }) => {
      const bytes = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const text = (buffer: ArrayBuffer): string => btoa(String.fromCharCode(...new Uint8Array(buffer)));
      const { credentials } = (globalThis as unknown as { navigator: { credentials: Credentials } }).navigator;
      const { response } = await credentials.get({
        publicKey: {
          challenge: bytes(challenge),
          rpId: 'localhost',
          userVerification,
          allowCredentials: [{ type: 'public-key', id: bytes(credentialId) }],
        },
      });
      return {
        signature: text(response.signature),
        authenticatorData: text(response.authenticatorData),
        clientDataJSON: text(response.clientDataJSON),
      };
    },
    { ...asked, challenge: Buffer.from(asked.challenge).toString('base64') },
  );
}
