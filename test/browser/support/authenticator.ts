import type { CDPSession, Page } from 'playwright-core';

/** A virtual authenticator of one page, with a person who touches it at once. */
export interface Authenticator {
  /** Without verification it still answers, and says that it did not verify the person. */
  verifiesUser(verifies: boolean): Promise<void>;
  credentials(): Promise<readonly Credential[]>;
  /** The counter that the next assertion has is one more. */
  setSignCount(signCount: number): Promise<void>;
  add(credential: Credential): Promise<void>;
}

/** As the debugger shows it; binary members in base64. */
export interface Credential {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId: string;
  readonly privateKey: string;
  readonly userHandle: string;
  readonly signCount: number;
}

/**
 * Enabled on the page, because a request of a page without it hangs. At most three credentials that are stored on the
 * authenticator fit. The page must be in the foreground when it asks: `page.bringToFront()`.
 */
export async function addAuthenticator(page: Page): Promise<Authenticator> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const credentials = async (): Promise<readonly Credential[]> => {
    const { credentials: found } = await session.send('WebAuthn.getCredentials', { authenticatorId });
    return found as unknown as readonly Credential[];
  };
  const add = async (credential: Credential): Promise<void> => {
    await session.send('WebAuthn.addCredential', { authenticatorId, credential });
  };
  return {
    credentials,
    add,
    async verifiesUser(isUserVerified) {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
    async setSignCount(signCount) {
      const before = await credentials();
      await session.send('WebAuthn.clearCredentials', { authenticatorId });
      for (const credential of before) await add({ ...credential, signCount });
    },
  };
}
