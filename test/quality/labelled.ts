import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { toEvalInput } from '../../cli/policy/bundles';
import { Metadata, Name } from '../../policy/contracts/diff';
import { planEvaluator, type Evaluation } from '../../policy/bundle/evaluate';
import { fires } from '../../policy/contracts/readings';
import { starterBundle } from '../../source-tools/starter-bundle';
import { compileAll } from '../../workers/compile';
import { extensionsOf } from '../../workers/extensions';
import { verdictOf, type Judged, type Measure } from './judged';

/** One case of our own labelled sets, written by a reader who had not seen the rules. */
const LabelledCase = z.strictObject({
  id: z.string().min(1),
  pack: z.string().optional(),
  label: z.enum(['risky', 'ordinary']),
  why: z.string().min(1),
  diff: z.strictObject({ sourceTool: Name, raw: z.string(), metadata: Metadata.default({}) }),
  expect: z.string().optional(),
});
type LabelledCase = z.infer<typeof LabelledCase>;

export const LABELLED_SETS = ['sql', 'git', 'secrets', 'text', 'http', 'terraform'] as const;

type Evaluate = (diff: LabelledCase['diff']) => Promise<Evaluation>;

/** Evaluates a diff with the starter bundle of its source tool, without a dry run, people or a model. `bundleOf`: another bundle. */
export function starterEvaluator(bundleOf: (sourceTool: string) => string = starterBundle): Evaluate {
  const extensions = extensionsOf();
  const evaluators = new Map<string, ReturnType<typeof planEvaluator>>();
  return async ({ sourceTool, raw, metadata }) => {
    let evaluate = evaluators.get(sourceTool);
    if (evaluate === undefined) {
      const [compiled] = compileAll(bundleOf(sourceTool), extensions);
      if (compiled === undefined) throw new Error(`The starter bundle of ${sourceTool} has no plan`);
      evaluate = planEvaluator(compiled.plan, extensions.validators, extensions.sourceTools);
      evaluators.set(sourceTool, evaluate);
    }
    const bytes = new TextEncoder().encode(raw);
    return evaluate(await toEvalInput(extensions, sourceTool, bytes, { metadata, staging: null, at: null }));
  };
}

/** A case is detected if the starter bundle of its source tool does not let it commit without a person. */
async function judgeOne(evaluate: Evaluate, { id, label, diff }: LabelledCase): Promise<Judged> {
  const { outcome, findings } = await evaluate(diff);
  const fired = findings.filter(fires).map(({ validator_id: validatorId }) => validatorId);
  return {
    id,
    expected: verdictOf(label === 'risky'),
    actual: verdictOf(outcome !== 'COMMIT'),
    what: fired.join(', '),
  };
}

export const labelled: readonly Measure[] = LABELLED_SETS.map((set) => ({
  name: `own/${set}`,
  file: `${set}.json`,
  own: true,
  judge: async (folder) => {
    const path = join(folder, `${set}.json`);
    if (!existsSync(path)) return null;
    const cases = z.array(LabelledCase).parse(JSON.parse(readFileSync(path, 'utf8')));
    const evaluate = starterEvaluator();
    const judged: Judged[] = [];
    for (const one of cases) judged.push(await judgeOne(evaluate, one));
    return { judged, notCompared: 0 };
  },
}));
