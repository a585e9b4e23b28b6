/**
 * Evaluates every input of a file with the sources of one checkout, and writes a line for each: the digest of all results,
 * or with --full the results themselves. Started by `compare.ts`, once for each checkout:
 *
 *   node --require ./test/pins/register.cjs test/pins/evaluate.ts --subject FILE --inputs FILE --output FILE [--only NAMES] [--ignore MEMBERS] [--full]
 */
import { createWriteStream, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { InputEvaluator, type ComparedInput, type Subject } from './evaluate-input';
import { chosen, digestOf, withoutMembers } from './results-text';

async function main(): Promise<void> {
  const text = { type: 'string' as const };
  const { values } = parseArgs({
    options: { subject: text, inputs: text, output: text, only: text, ignore: text, full: { type: 'boolean' } },
  });
  const { subject: subjectFile, inputs, output, only, ignore, full } = values;
  if (subjectFile === undefined || inputs === undefined || output === undefined)
    throw new Error('--subject, --inputs and --output are needed');
  const { subject } = require(resolve(subjectFile)) as { readonly subject: Subject };
  const evaluator = new InputEvaluator(subject);
  const unset = evaluator.unset();
  if (unset.length > 0) throw new Error(`test/pins/settings.ts has no settings that fit ${unset.join(', ')}`);
  const names = only?.split(',') ?? null;
  const ignored = new Set(ignore?.split(',') ?? []);
  const out = createWriteStream(output);
  for (const line of readFileSync(inputs, 'utf8').split('\n')) {
    if (line === '') continue;
    const all = chosen(await evaluator.evaluate(JSON.parse(line) as ComparedInput), names);
    const results = ignored.size === 0 ? all : withoutMembers(all, ignored);
    out.write(`${full === true ? JSON.stringify(results) : digestOf(results)}\n`);
  }
  out.end();
  await finished(out);
}

void main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
