import type { Route } from 'playwright-core';
import type { Envelope } from '../../policy/contracts/diff';
import { evidenceChecksum, parseEvidence, type EvidenceBundle } from '../../policy/evidence/bundle';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { forgeries } from './attacks/forged-bundles';
import { creditChange, paymentChange } from './support/changes';
import { describeInBrowser } from './support/chromium';
import { useEnvironment } from './support/environment';
import { cards, choose, lookAtEvidence, openReview, sign } from './support/review-page';
import { takeSeat, type Seat } from './support/seat';

/** Longer than what is on screen must stay there to count as seen. */
const SEEN_MS = 900;
/** Scrolls until the first line of evidence that is below the window is behind the bar; whether it is. */
const PUT_BEHIND_BAR = `(() => {
  const [line] = [...document.querySelectorAll('.line[data-block], .snippet[data-block]')];
  const barTop = () => document.querySelector('[data-bar=bottom]').getBoundingClientRect().top;
  scrollBy({ top: line.getBoundingClientRect().top - barTop() - 2, behavior: 'instant' });
  const { top, height } = line.getBoundingClientRect();
  return top >= barTop() && top + height / 2 < innerHeight;
})()`;

interface Answers {
  readonly answers: readonly Envelope[];
}
type Tamper = (sent: Answers) => Promise<Answers> | Answers;

describeInBrowser('forged signatures, and forged evidence with the script of the page intact', () => {
  const environment = useEnvironment();
  let alice: Seat;
  let payments = 100;
  jest.setTimeout(240_000);
  beforeAll(async () => {
    alice = await takeSeat(environment(), 'alice', { ownPasskey: true });
  }, 240_000);
  afterAll(() => alice.close());

  /** The id of a change with one violation that waits for a person. */
  async function waiting(): Promise<string> {
    const { system } = environment();
    const { changeId } = await system.submit(paymentChange(++payments));
    await system.waiting(changeId);
    return changeId;
  }

  /** Confirms on the page; what it sends is changed on the way. Returns what the gateway made of it. */
  async function confirmTampered(changeId: string, tamper: Tamper): Promise<string> {
    const { page } = alice;
    await openReview(page, changeId);
    const path = `**/inbox/api/reviews/${changeId}/answers`;
    await page.route(path, async (route: Route) => {
      const sent = route.request().postDataJSON() as Answers;
      await route.continue({ postData: JSON.stringify(await tamper(sent)) });
    });
    try {
      await choose(cards(page).first(), 'confirm', 'agreed');
      const answered = page.waitForResponse((response) => response.url().endsWith(`${changeId}/answers`));
      await sign(page);
      return await (await answered).text();
    } finally {
      await page.unroute(path);
    }
  }

  /** Nothing was accepted, the ledger has the refusal with this text, and the page says so. */
  async function expectRefused(changeId: string, why: RegExp): Promise<void> {
    const { system } = environment();
    const rows = (await system.ledger(changeId)).map(({ row }) => row);
    expect(rows.filter(({ kind }) => kind === 'answer_accepted')).toEqual([]);
    expect(
      rows
        .filter(({ kind }) => kind === 'answer_refused')
        .map(({ body }) => canonicalJson(body))
        .join(),
    ).toMatch(why);
    await alice.page
      .getByText(/^Refused/)
      .first()
      .waitFor();
    expect((await system.countersign.status(changeId)).state).toBe('INTERVENTION_REQUIRED');
  }

  test('a genuine answer is accepted once, and the same message again changes nothing', async () => {
    const changeId = await waiting();
    let sent: Answers = { answers: [] };
    const said = await confirmTampered(changeId, (message) => (sent = message));
    expect(said).toContain('"accepted"');
    const again = await alice.page.evaluate(
      async ({ id, body }) =>
        await (
          await fetch(`/inbox/api/reviews/${id}/answers`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          })
        ).text(),
      { id: changeId, body: JSON.stringify(sent) },
    );
    // After the commit, the result of the same message is that of its row.
    expect(again).toMatch(/"code":"(?:duplicate|accepted)"/);
    const rows = await environment().system.ledger(changeId);
    expect(rows.filter(({ row }) => row.kind === 'answer_accepted')).toHaveLength(1);
    const replayed = await waiting();
    await confirmTampered(replayed, () => sent);
    const accepted = (await environment().system.ledger(replayed)).filter(({ row }) => row.kind === 'answer_accepted');
    expect(accepted).toEqual([]);
  });

  test('an assertion of an earlier touch is refused for another statement', async () => {
    const first = await waiting();
    let signature: Envelope['signatures'][number] | undefined;
    await confirmTampered(first, (message) => {
      signature = message.answers[0]?.signatures[0];
      return message;
    });
    const changeId = await waiting();
    await confirmTampered(changeId, ({ answers }) => ({
      answers: answers.map((envelope) => ({ ...envelope, signatures: signature === undefined ? [] : [signature] })),
    }));
    await expectRefused(changeId, /the assertion is for other statements/);
  });

  test('the page does not accept a passkey that cannot verify the person', async () => {
    const changeId = await waiting();
    await alice.authenticator.verifiesUser(false);
    await openReview(alice.page, changeId);
    await choose(cards(alice.page).first(), 'confirm', 'agreed');
    await sign(alice.page);
    await alice.page.getByText('The passkey was not used').waitFor();
    await alice.authenticator.verifiesUser(true);
    // What was typed is still there.
    expect(
      await cards(alice.page)
        .first()
        .getByLabel(/^Reason/)
        .inputValue(),
    ).toBe('agreed');
    await sign(alice.page);
    await alice.page
      .getByText(/Recorded \(accepted\)/)
      .first()
      .waitFor();
  });

  test('an answer whose signature counter does not grow is refused', async () => {
    const changeId = await waiting();
    const [credential] = await alice.authenticator.credentials();
    await alice.authenticator.setSignCount(1);
    await confirmTampered(changeId, (message) => message);
    await expectRefused(changeId, /counter_regressed/);
    await alice.authenticator.setSignCount((credential?.signCount ?? 0) + 100);
  });

  test('forged evidence is a red page that names what differs, offers no answer, and is in the ledger', async () => {
    const { system } = environment();
    const { changeId } = await system.submit(creditChange('spring credit forged'));
    await system.waiting(changeId);
    const path = `**/inbox/api/reviews/${changeId}/bundle`;
    let reported = 0;
    const shown: string[] = [];
    const genuine = parseEvidence(
      await alice.page.evaluate(async (id) => await (await fetch(`/inbox/api/reviews/${id}/bundle`)).text(), changeId),
    );
    if (!genuine.ok) throw new Error(genuine.problem);
    for (const [name, forge] of forgeries()) {
      const body = `${canonicalJson(forge(genuine.bundle))}\n`;
      await alice.page.route(path, (route) => route.fulfill({ contentType: 'application/json', body }));
      await alice.page.goto(`${environment().origin}/inbox/#/all`);
      await openReview(alice.page, changeId);
      const heading = alice.page.getByRole('heading', { name: 'This review does not verify' });
      const offered = await alice.page.getByRole('button', { name: /Confirm|Reject|Sign/ }).count();
      if ((await heading.count()) !== 1 || offered > 0) shown.push(name);
      if ((await alice.page.getByText('The difference was reported to the ledger').count()) > 0) reported += 1;
      await alice.page.unroute(path);
    }
    const rows = (await system.ledger(changeId)).filter(({ row }) => row.kind === 'refused');
    expect(shown).toEqual([]);
    expect(reported).toBeGreaterThan(0);
    expect(rows.length).toBeGreaterThan(0);
    expect(canonicalJson(rows[0]?.row.body ?? {})).toContain('alice');
    await openReview(alice.page, changeId);
  });

  test('evidence without the rows of the dry run can be rejected, and not confirmed', async () => {
    const changeId = await waiting();
    const path = `**/inbox/api/reviews/${changeId}/bundle`;
    await alice.page.route(path, async (route) => {
      const response = await route.fetch();
      const bundle = { ...(JSON.parse(await response.text()) as EvidenceBundle), preview: null };
      await route.fulfill({ response, body: `${canonicalJson({ ...bundle, sha256: evidenceChecksum(bundle) })}\n` });
    });
    await openReview(alice.page, changeId);
    const card = cards(alice.page).first();
    await card.getByText('this cannot be confirmed').waitFor();
    expect(await card.getByRole('button', { name: 'Confirm' }).isDisabled()).toBe(true);
    expect(await card.getByRole('button', { name: 'Reject' }).isEnabled()).toBe(true);
    await alice.page.unroute(path);
  });

  test('evidence behind the bar that signs is not seen, and cannot be confirmed', async () => {
    const { page } = alice;
    const whole = page.viewportSize() ?? { width: 1280, height: 720 };
    await page.setViewportSize({ width: 1000, height: 300 });
    await openReview(page, await waiting());
    const unseen = page.getByText('not seen yet');
    await page.waitForTimeout(SEEN_MS);
    const before = await unseen.count();
    const behind = await page.evaluate(PUT_BEHIND_BAR);
    await page.waitForTimeout(SEEN_MS);
    expect([behind, await unseen.count()]).toEqual([true, before]);
    expect(before).toBeGreaterThan(0);
    await page.setViewportSize(whole);
    const card = cards(page).first();
    await lookAtEvidence(card);
    await card.getByRole('button', { name: 'Confirm' }).and(page.locator(':enabled')).waitFor();
  });

  test('evidence of another review, and one signed by other operators, are refused', async () => {
    const [mine, another] = [await waiting(), await waiting()];
    await alice.page.route(`**/inbox/api/reviews/${mine}/bundle`, async (route) =>
      route.continue({ url: route.request().url().replace(mine, another) }),
    );
    await openReview(alice.page, mine);
    await alice.page.getByRole('heading', { name: 'This review does not verify' }).waitFor();
    await alice.page.unrouteAll();
    const { publicKey } = environment().system.key('agent');
    await alice.page.route('**/inbox/api/trust', (route) =>
      route.fulfill({ json: { operators: [publicKey], committers: [publicKey] } }),
    );
    await alice.page.reload();
    await alice.page.getByText('The trusted keys have changed').waitFor();
    await openReview(alice.page, another);
    await alice.page.getByRole('heading', { name: 'This review does not verify' }).waitFor();
    await alice.page.unrouteAll();
    await alice.page.reload();
  });
});
