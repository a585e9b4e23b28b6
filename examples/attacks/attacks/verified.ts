/** Attacks on what people and clients see and sign: fake workflows under the id of a review, and a gateway that lies. */
import { CountersignError } from '../../../client/errors';
import { GENESIS, ledgerHash, type LedgerRow } from '../../../policy/contracts/ledger';
import type { ReviewStatus } from '../../../policy/contracts/status';
import { toBase64 } from '../../../policy/evidence/base64';
import { answerRefused, raisePay, refundOrder, topUp, withoutRow, type Attack } from '../attack';
import { forgeOpening } from '../forged-opening';
import { withImpostor } from '../impostor';
import { withLyingGateway } from '../lying-gateway';
import type { Testbed } from '../testbed';

const WORDS = 'routine maintenance, nothing changes';
/** What the CLI says of an answer to which only the workflow replied. Its exit code is then 14. */
const NO_ROW = 'no row of the ledger has it';
const FAR = '2099-01-01T00:00:00.000Z';

/** Two violations: one for each table. */
const twoTables = (id: number) => ({
  sourceTool: 'SQLDryRun',
  raw: `update orders set status = 'refunded' where id = ${id}; update payroll set cents = 1 where id = ${id}`,
  metadata: { table_name: 'orders', affected_rows: 2 },
});

/** The results that a review gives for answers that count. */
const accepted = (status: ReviewStatus, code = 'accepted') =>
  Object.fromEntries(status.violations.map((v) => [v.violationId, { code, message: 'confirm by alice' }]));

/** A fake workflow answers the query `status`. A client that trusts it shows `lie`, or lets a person sign what was not shown. */
function fakeStatus(
  name: string,
  change: ReturnType<typeof refundOrder>,
  forge: (status: ReviewStatus, testbed: Testbed) => Partial<ReviewStatus> | Promise<Partial<ReviewStatus>>,
  lie: (text: string, status: ReviewStatus) => boolean,
): Attack {
  return {
    name: `fake workflow: \`status\` with ${name}`,
    async run(testbed) {
      const status = await testbed.submitAndWait(change);
      const { changeId } = status;
      const forged = {
        status: { ...status, ...(await forge(status, testbed)) },
        replies: accepted(status),
      };
      const achieved = await withImpostor(testbed, changeId, forged, async () => {
        const shown = await testbed.cli('show', changeId, '--all');
        const answered = await testbed.cli(
          ...['answer', changeId, '--all', '--confirm', '--reason', 'seen', '--key', testbed.keyFileOf('alice')],
        );
        if (lie(`${shown.out}\n${answered.err}`, status)) return 'the CLI showed what the workflow invented';
        if (shown.code !== 0 || !status.violations.every((v) => shown.out.includes(v.validatorId)))
          return `show exits with ${shown.code}, and does not show each violation`;
        return notAcknowledged(answered);
      });
      return withoutRow(changeId, 'CLI: the rows, not the workflow, say what is shown and accepted', achieved);
    },
  };
}

/** Null if the CLI says that no row has the answer. */
const notAcknowledged = ({ code, out }: { readonly code: number; readonly out: string }): string | null =>
  code === 14 && out.includes(NO_ROW) ? null : `the CLI exits with ${code} and reports: ${out.slice(0, 200)}`;

/** The code and the decisions that the CLI reports for an answer to a review whose workflow only says `code`. */
function fakeReply(name: string, decision: '--confirm' | '--reject', code: string): Attack {
  return {
    name: `fake workflow: ${name}`,
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(12));
      const { changeId } = status;
      const forged = { status, replies: accepted(status, code) };
      const achieved = await withImpostor(testbed, changeId, forged, async () => {
        const key = testbed.keyFileOf('alice');
        const cli = await testbed.cli('answer', changeId, '--all', decision, '--reason', 'x', '--key', key);
        const signed = testbed.sign(status, testbed.keyOf('bob'), decision === '--reject' ? 'reject' : 'confirm');
        const results = Object.values(await testbed.countersign.answer(changeId, signed));
        if (results.length === 0 || results.some((result) => result.code !== 'sent'))
          return `the client reported ${JSON.stringify(results)} without a row`;
        return notAcknowledged(cli);
      });
      return withoutRow(changeId, 'client: no row of the ledger has the answer', achieved);
    },
  };
}

type Json = Record<string, unknown>;

/** The gateway's answer to `GET /v1/reviews/:id` is edited. A client that trusts it shows `lie`; ours reports what differs. */
function lyingGateway(
  name: string,
  by: string,
  change: ReturnType<typeof refundOrder>,
  edit: (body: Json, status: ReviewStatus, harmless: Uint8Array) => unknown,
  lie: (text: string, status: ReviewStatus) => boolean,
): Attack {
  return {
    name: `lying gateway: ${name}`,
    async run(testbed) {
      const status = await testbed.submitAndWait(change);
      const { changeId } = status;
      const harmless = (await testbed.prepared(topUp(29))).bytes;
      const edited = (path: string, body: unknown): unknown =>
        path.split('?')[0]?.endsWith(`/v1/reviews/${changeId}`) === true ? edit(body as Json, status, harmless) : body;
      const achieved = await withLyingGateway(testbed.dev.gatewayUrl, edited, (baseUrl) =>
        testbed
          .gateway(testbed.keyOf('alice'), { baseUrl })
          .status(changeId)
          .then(
            (seen) =>
              lie(JSON.stringify(seen), status)
                ? 'the client returned what the gateway invented'
                : 'the client verified what the gateway edited',
            (error: unknown) => {
              if (!(error instanceof CountersignError) || error.code !== 'not_verified') throw error;
              return error.message.includes(`\n${by}`) ? null : `refused for another reason: ${error.message}`;
            },
          ),
      );
      return withoutRow(changeId, `client: ${by}`, achieved);
    },
  };
}

/** Replaces text everywhere in a JSON value. */
function replaced(value: unknown, from: string, to: string): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(JSON.stringify(from).slice(1, -1), to)) as unknown;
}

/** The bundle with edited rows, and a hash chain that fits them. */
function rechained(body: Json, edit: (row: LedgerRow) => LedgerRow): Json {
  let prev: string = GENESIS;
  const rows = (body['rows'] as { row: LedgerRow }[]).map(({ row }) => {
    const edited = { ...edit(row), prev };
    prev = ledgerHash(edited);
    return { row: edited, hash: prev };
  });
  return { ...body, rows, head: { rows: rows.length, hash: prev } };
}

const messageOf = (status: ReviewStatus): string => status.violations[0]?.message ?? '';

export const VERIFIED: readonly Attack[] = [
  fakeStatus(
    'the hash of another diff',
    refundOrder(1),
    async (_status, testbed) => ({ diffSha: (await testbed.prepared(topUp(28))).submission.diffSha }),
    (text) => text.includes('balance + 1'),
  ),
  fakeStatus(
    'invented words beside the real fingerprint',
    refundOrder(2),
    ({ violations }) => ({ violations: violations.map((v) => ({ ...v, message: WORDS })) }),
    (text) => text.includes(WORDS),
  ),
  fakeStatus(
    'another reason of a finding',
    refundOrder(3),
    ({ findings }) => ({ findings: findings.map((f) => ({ ...f, reason: WORDS })) }),
    (text) => text.includes(WORDS),
  ),
  fakeStatus(
    'one of two violations hidden',
    twoTables(4),
    ({ violations }) => ({ violations: violations.slice(0, 1) }),
    (text, { violations }) => violations.some((v) => !text.includes(v.violationId.slice(0, 8))),
  ),
  fakeStatus(
    'another group',
    refundOrder(5),
    ({ violations }) => ({ violations: violations.map((v) => ({ ...v, group: 'interns', mayAnswer: ['mallory'] })) }),
    (text) => text.includes('interns') || text.includes('mallory'),
  ),
  fakeStatus(
    'a later deadline',
    refundOrder(6),
    () => ({ deadlineAt: FAR }),
    (text) => text.includes(FAR),
  ),
  fakeStatus(
    'confirmations that no one gave',
    raisePay(7),
    ({ violations }) => ({ violations: violations.map((v) => ({ ...v, confirmedBy: ['bob'] })) }),
    (text) => text.includes('1 of 2 confirmed'),
  ),
  {
    name: 'fake workflow: `status` of one change with id and fingerprint of another',
    async run(testbed) {
      const wanted = await testbed.submitAndWait(refundOrder(8));
      const looked = await testbed.submitAndWait(refundOrder(9));
      const { changeId } = looked;
      const { fingerprint, violations } = wanted;
      const forged = {
        status: { ...looked, changeId: wanted.changeId, fingerprint, violations },
        replies: accepted(looked),
      };
      const achieved = await withImpostor(testbed, changeId, forged, async () => {
        const options = ['--all', '--confirm', '--reason', 'seen', '--key', testbed.keyFileOf('alice')];
        const signed = await testbed.cli('sign', changeId, ...options, '--json');
        const predicates = [...signed.out.matchAll(/"payload":\s*"([A-Za-z0-9+/=]+)"/g)].map(
          ([, payload = '']) =>
            (JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as { predicate: { changeId: string } })
              .predicate,
        );
        if (predicates.length === 0) return `nothing was signed: exit code ${signed.code} ${signed.err.slice(0, 200)}`;
        const other = predicates.find((predicate) => predicate.changeId !== changeId);
        return other === undefined ? null : 'a person who looked at one change signed another';
      });
      return withoutRow(changeId, 'CLI: signs what the rows of the named change say', achieved);
    },
  },
  fakeReply('a reject is acknowledged and dropped', '--reject', 'accepted'),
  fakeReply('a confirm is acknowledged and dropped', '--confirm', 'accepted'),
  fakeReply('an answer is called a duplicate and dropped', '--reject', 'duplicate'),
  fakeReply('an answer is refused without a row', '--reject', 'not_eligible'),
  {
    name: 'fake workflow: an outcome with the genuine receipt and other words',
    async run(testbed) {
      const changeId = await testbed.submit(topUp(10));
      const ended = await testbed.ended(changeId);
      if (ended.state === 'ABORTED' || ended.state === 'ROLLED_BACK') throw new Error(`It is ${ended.state}`);
      await testbed.baseline();
      const forged = { outcome: { ...ended.outcome, explanation: WORDS, violations: [] } };
      const achieved = await withImpostor(testbed, changeId, forged, async () => {
        const { out } = await testbed.cli('result', changeId);
        const again = await testbed.ended(changeId);
        if (out.includes(WORDS)) return 'the CLI printed the words of the workflow as verified';
        if (JSON.stringify(again).includes(WORDS)) return 'the client returned the words of the workflow';
        return again.state === 'COMMITTED' && again.verified ? null : `the outcome is ${again.state} and not verified`;
      });
      return withoutRow(changeId, 'client: the rows, not the workflow, say how a review ended', achieved);
    },
  },
  {
    name: 'a finding with another reason reaches the disclosure',
    async run(testbed) {
      const honest = await testbed.submitAndWait(refundOrder(11));
      const finding = honest.findings.find(({ validatorId }) => validatorId === 'guardian.orders');
      const forged = { validator_id: 'guardian.orders', status: finding?.status, reason: WORDS, evidenceRefs: ['x'] };
      const changeId = await forgeOpening(testbed, refundOrder(11), (plan) => ({
        allowed: plan.validators.flatMap(({ id }, place) => (id === 'guardian.orders' ? [] : [place])),
        results: { 'guardian.orders': forged },
      }));
      await testbed.waitForRow(changeId, ({ kind }) => kind === 'disclosed');
      const { code, out } = await testbed.cli('show', changeId);
      const isShown = code === 0 && out.includes('guardian.orders');
      const wrong = isShown ? null : `show exits with ${code}: ${out.slice(0, 200)}`;
      const achieved = out.includes(WORDS) ? 'the CLI showed a reason that no rule gave' : wrong;
      return withoutRow(changeId, 'the rows have the finding of the rule', achieved);
    },
  },
  lyingGateway(
    'other words in a violation, in rows whose chain was hashed again',
    'disclosure: ',
    refundOrder(13),
    (body, status) => {
      if (!('rows' in body)) return replaced(body, messageOf(status), WORDS);
      const words = (list: unknown) => replaced(list, messageOf(status), WORDS) as never;
      return rechained(body, (row) =>
        row.kind === 'disclosed' ? { ...row, body: { ...row.body, violations: words(row.body['violations']) } } : row,
      );
    },
    (text) => text.includes(WORDS),
  ),
  lyingGateway(
    'other bytes',
    'bytes: the digest of the bytes differs',
    refundOrder(14),
    (body, { diffSha }, harmless) =>
      'rows' in body ? { ...body, bytes: toBase64(harmless) } : replaced(body, diffSha, '1'.repeat(64)),
    (text, { diffSha }) => !text.includes(diffSha),
  ),
  lyingGateway(
    'another plan, with another group of approvers',
    'plan: the plan hashes to',
    refundOrder(15),
    (body) => replaced(body, 'alice', 'mallory'),
    (text) => text.includes('mallory'),
  ),
  lyingGateway(
    'a hidden violation, in rows whose chain was hashed again',
    'disclosure: ',
    twoTables(16),
    (body) => {
      const drop = (list: unknown): unknown[] => (list as unknown[]).slice(0, 1);
      if (!('rows' in body)) return { ...body, violations: drop(body['violations']) };
      return rechained(body, (row) =>
        row.kind === 'disclosed'
          ? { ...row, body: { ...row.body, violations: drop(row.body['violations']) as never } }
          : row,
      );
    },
    (text, { violations }) => violations.some((v) => !text.includes(v.violationId)),
  ),
  lyingGateway(
    'another fingerprint, in rows whose chain was hashed again',
    'disclosure: ',
    refundOrder(17),
    (body, { fingerprint }) => {
      const edited = replaced(body, fingerprint ?? '', '2'.repeat(64)) as Json;
      return 'rows' in edited ? rechained(edited, (row) => row) : edited;
    },
    (text, { fingerprint }) => !text.includes(fingerprint ?? ''),
  ),
  lyingGateway(
    'another requester, in rows whose chain was hashed again',
    'requester: the requester in the row differs',
    refundOrder(18),
    (body, { requester }) => {
      if (!('rows' in body)) return { ...body, requester: 'mallory' };
      return rechained(body, (row) =>
        row.kind === 'submitted' ? { ...row, body: { ...row.body, requester: `not ${requester ?? ''}` } } : row,
      );
    },
    (text, { requester }) => !text.includes(`"requester":"${requester ?? ''}"`),
  ),
  {
    name: 'lying gateway: an answer is acknowledged and not relayed',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(19));
      const { changeId } = status;
      // The signature is not valid for the key: the real review refuses the answer, and the gateway hides that.
      const stranger = { ...testbed.keyOf('alice'), keyId: testbed.keyOf('bob').keyId };
      const acknowledged = (path: string, body: unknown): unknown =>
        path.endsWith('/answers') ? accepted(status) : body;
      const results = await withLyingGateway(testbed.dev.gatewayUrl, acknowledged, (baseUrl) =>
        testbed.gateway(testbed.keyOf('alice'), { baseUrl }).answer(changeId, testbed.sign(status, stranger)),
      );
      const codes = Object.values(results).map(({ code }) => code);
      const isReported = codes.join() === 'bad_signature';
      const achieved = isReported ? null : `the client reported ${codes.join()}, but the row says bad_signature`;
      return { changeId, refusal: answerRefused('bad_signature'), achieved };
    },
  },
];
