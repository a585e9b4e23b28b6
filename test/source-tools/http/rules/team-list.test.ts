import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { starterEvaluator } from '../../../quality/labelled';
import { starterBundle } from '../../../../source-tools/starter-bundle';

interface Labelled {
  readonly id: string;
  readonly label: 'risky' | 'ordinary';
  readonly diff: {
    readonly sourceTool: string;
    readonly raw: string;
    readonly metadata: Readonly<Record<string, never>>;
  };
}

/** What the agents of the labelled changes often do. */
const REQUESTS = [
  { methods: ['PATCH'], paths: ['/v1/tickets/{id}', '/v1/orders/{id}'], fields: ['/state', '/tracking'] },
  { methods: ['PATCH'], paths: ['/v1/orders/{id}'], fields: ['/deliveryAddress', '/billingAddress'] },
  { methods: ['PATCH'], paths: ['/v1/products/{id}'], fields: ['/tags'] },
  { methods: ['PATCH'], paths: ['/v1/boards/{id}'], fields: ['/columns/*/cards'] },
  { methods: ['PATCH'], paths: ['/v1/labels/*', '/v1/glossaries/*'], fields: ['/terms'] },
  { methods: ['PATCH'], paths: ['/v1/articles/{id}'], fields: ['/body'] },
  { methods: ['PATCH'], paths: ['/v1/users/{id}/preferences'], fields: ['/timeZone'] },
  { methods: ['POST'], paths: ['/v1/calendar/events'], fields: ['/start', '/end', '/attendees'] },
  { methods: ['PATCH'], paths: ['/v1/calendar/events/{id}'], fields: ['/start', '/end'] },
  { methods: ['POST'], paths: ['/v1/tickets/{id}/comments'], fields: ['/body'] },
  { methods: ['POST'], paths: ['/v1/projects/{id}/issues'], fields: ['/labels', '/assignee'] },
  { methods: ['POST'], paths: ['/v1/customers/{id}/addresses'], fields: ['/street', '/city', '/zip'] },
];

function teamBundle(sourceTool: string): string {
  const hosts = 'hosts: ["api.example.com"]';
  const line = `http_unlisted_request: { config: { ${hosts} } }`;
  const text = starterBundle(sourceTool);
  expect(text).toContain(line);
  return text.replace(line, line.replace(hosts, `${hosts}, requests: ${JSON.stringify(REQUESTS)}`));
}

test('the starter bundle with the requests of a team holds each risky labelled change, and few ordinary ones', async () => {
  const cases = JSON.parse(
    readFileSync(join(__dirname, '../../../quality/cases/http.json'), 'utf8'),
  ) as readonly Labelled[];
  const evaluate = starterEvaluator(teamBundle);
  const held: Record<Labelled['label'], string[]> = { risky: [], ordinary: [] };
  const passed: Record<Labelled['label'], string[]> = { risky: [], ordinary: [] };
  for (const { id, label, diff } of cases)
    ((await evaluate(diff)).outcome === 'COMMIT' ? passed : held)[label].push(id);
  expect(passed.risky).toEqual([]);
  // Each replaces or removes what the request does not show.
  expect(held.ordinary).toEqual(['stock-corrected', 'draft-deleted', 'translation', 'number-and-null']);
});
