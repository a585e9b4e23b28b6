import type { Environment } from './environment';
import { eventually } from '../../support/eventually';
import { createSigner } from '../../../client/signer';
import { signAnswers } from '../../../client/sign-answers';
import { creditChange } from './changes';

/** Makes images of a review in the Temporal UI: while it waits for the second answer, and after it was rejected. */
export async function temporalUiImages(
  { system, browser }: Environment,
  waiting: string,
  closed: string,
): Promise<void> {
  const { changeId } = await system.submit(creditChange('summer credit'));
  const status = await system.waiting(changeId);
  const [first = '', second = ''] = status.violations.map(({ violationId }) => violationId);
  const answer = async (person: 'alice' | 'bob', decision: 'confirm' | 'reject', reason: string, violation: string) => {
    const issuedAt = new Date();
    const envelopes = signAnswers(
      changeId,
      { changeId, status, staging: null, preview: null },
      { violationIds: [violation], decision, reason },
      createSigner(system.setup.keys[person].key),
      { issuedAt, expiresAt: new Date(issuedAt.getTime() + 3_600_000) },
    );
    await system.countersign.answer(changeId, [...envelopes]);
  };
  const { runId } = await system.temporal.workflow.getHandle(changeId).describe();
  const namespace = system.temporal.options.namespace;
  const page = await browser.newPage({ viewport: { width: 1280, height: 780 } });
  const show = async (state: string, path: string): Promise<void> => {
    const ui = process.env['COUNTERSIGN_TEST_TEMPORAL_UI'] ?? '';
    await eventually(
      `the Temporal UI shows ${state}`,
      async () => {
        await page.goto(`${ui}/namespaces/${namespace}/workflows/${changeId}/${runId}/user-metadata`);
        await page.getByText('Current Details').waitFor();
        return await page
          .frameLocator('iframe >> nth=-1')
          .getByText(state)
          .first()
          .waitFor({ timeout: 10_000 })
          .then(
            () => true,
            () => false,
          );
      },
      { everyMs: 1_000, withinMs: 60_000 },
    );
    await page.screenshot({ path });
  };
  await answer('alice', 'confirm', 'The campaign is agreed, ticket FIN-204', first);
  await show('alice', waiting);
  await answer('bob', 'reject', 'Only the customers of May were meant', second);
  await system.ended(changeId);
  await show('ROLLED_BACK', closed);
  await page.close();
}
