import type { ApplicationFailure } from '@temporalio/common';
import { noCache } from '../../../activities/judge/cache';
import { answerTo, completion, sendJson, startJudgeServer, type JudgeServer } from '../../support/judge-server';
import { SECRETS } from '../../policy/judge/secret-fixtures';
import { judgeWorld, MODEL } from './judge-world';

describe('secrets of a change', () => {
  let server: JudgeServer;
  beforeAll(async () => {
    server = await startJudgeServer(() => undefined);
  });
  afterAll(() => server.stop());
  beforeEach(() => server.clear());

  const lines = (secret: string): string[] => secret.split('\n').filter((line) => line.length > 4 || line === secret);

  it.each(SECRETS.map((s) => [s.id, s] as const))(
    'does not leak %s from bytes or metadata into a request, result, record or ledger row',
    async (_, { text, secret }) => {
      server.use((response, request) => {
        const echoed = request.message.slice(0, 280);
        const rows = request.policyIds.map((policyId) => ({
          policyId,
          result: 'violated',
          severity: 'WARN',
          lines: [1],
          quote: echoed.slice(0, 200),
          why: echoed,
        }));
        sendJson(response, 200, completion(MODEL, answerTo(request, { policyResults: rows })));
      });
      const world = judgeWorld(server, { cache: noCache });
      const input = world.change(text, {
        metadata: { table_name: text, rationale: text },
        settings: { includeAgentProse: true },
      });
      const judged = await world.ask(input);
      for (const line of lines(secret)) {
        // Also check the form that it has inside a JSON string.
        for (const form of [line, JSON.stringify(line).slice(1, -1)]) {
          expect(server.requests[0]?.body).not.toContain(form);
          expect(JSON.stringify([judged, world.ledger, world.predicates])).not.toContain(form);
        }
      }
    },
  );

  it('does not leak a secret into a failure, even if the server echoes it', async () => {
    const { text, secret } = SECRETS[0] ?? { text: '', secret: '' };
    server.use((response, request) =>
      sendJson(response, 400, {
        error: { message: `bad prompt: ${request.message}; key test-key; ${secret}`, code: secret.toLowerCase() },
      }),
    );
    const world = judgeWorld(server, { cache: noCache });
    const failure = (await world.ask(world.change(text)).catch((error: unknown) => error)) as ApplicationFailure;
    const shown = JSON.stringify([failure.message, failure.details, failure.stack, String(failure.cause)]);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain('test-key');
    expect(shown).not.toContain('bad prompt');
  });
});
