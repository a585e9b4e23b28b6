import { withDatabase } from '../../storage/database/database';
import { createEnrollments } from '../../storage/keys/enrollments';
import { newLink } from '../../storage/keys/new-link';
import type { Dev } from '../../dev/start';

const VALID_MS = 24 * 3_600_000;

/** Makes one-time links, with which alice and bob enrol passkeys and answer in the inbox. */
export async function inboxLinks(
  { setup, inboxUrl }: Pick<Dev, 'setup' | 'inboxUrl'>,
  tenant: string,
): Promise<readonly { readonly person: string; readonly link: string }[]> {
  const { operator } = setup.keys;
  return await withDatabase(
    { url: setup.databaseUrls.cs_operator, applicationName: 'countersign-demo' },
    async (db) => {
      const enrollments = createEnrollments({ db, trustedOperators: [operator.key.publicKey] });
      const links = [];
      for (const person of ['alice', 'bob']) {
        const request = { person, tenants: [tenant], publicUrl: inboxUrl, validMs: VALID_MS, now: new Date() };
        const { link } = await newLink(enrollments, request, { ...operator.key, demo: true });
        links.push({ person, link });
      }
      return links;
    },
  );
}
