import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fires } from '../../policy/contracts/readings';
import { SOURCE_TOOLS } from '../../source-tools';
import { starterEvaluator } from '../quality/labelled';

/** The examples of docs/changes.md: a language, a source tool and, as JSON, the metadata. */
const PAGE = readFileSync(join(__dirname, '../../docs/changes.md'), 'utf8');
const EXAMPLES = [...PAGE.matchAll(/^```\w+ (\w+) ?(.*)\n([\s\S]*?)^```$/gm)].map(
  ([, sourceTool = '', metadata = '', raw = '']) => ({
    sourceTool,
    raw,
    metadata: metadata === '' ? {} : (JSON.parse(metadata) as Record<string, string>),
  }),
);
const evaluate = starterEvaluator();

it('docs/changes.md has an example of each source tool', () => {
  const shown = EXAMPLES.map(({ sourceTool }) => sourceTool);
  expect(new Set(shown)).toEqual(new Set(SOURCE_TOOLS.map(({ sourceTool }) => sourceTool)));
});

it.each(EXAMPLES.map((example) => [example.sourceTool, example] as const))(
  'the starter bundle asks nothing about the example of %s in docs/changes.md',
  async (_, example) => {
    const { outcome, findings } = await evaluate(example);
    expect(findings.filter(fires)).toEqual([]);
    expect(outcome).toBe('COMMIT');
  },
);
