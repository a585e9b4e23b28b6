/**
 * The marker of a change in its repository: a ref that points to a blob with the outcome of the change.
 *
 * M1 Applying a change creates the marker in the transaction that moves the branch; sealing creates only the marker. A ref can
 *    be created only once, so a change is either applied or sealed.
 * M2 Reverting moves the branch and the marker in one transaction. If git is killed between the two, the branch decides.
 */
import { z } from 'zod';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import { JsonObject } from '../../../policy/contracts/json-value';
import { targetMisconfigured } from '../../target-failure';
import { firstLine, tipOf, type Repository } from './repository';

const changeId = z.string();
const Marker = z.discriminatedUnion('state', [
  z.strictObject({
    changeId,
    state: z.literal('applied'),
    effect: JsonObject,
    /** Why a revert was begun, and why the commit stays for good. */
    shouldBeReverted: z.string().optional(),
  }),
  z.strictObject({ changeId, state: z.literal('sealed') }),
  z.strictObject({ changeId, state: z.literal('undone'), effect: JsonObject, explanation: z.string() }),
]);
export type Marker = z.infer<typeof Marker>;

export interface StoredMarker {
  readonly marker: Marker;
  readonly blob: string;
}

export function markerRef(changeId: string): string {
  return `refs/countersign/changes/${changeId}`;
}

export async function readMarker(repository: Repository, changeId: string): Promise<StoredMarker | null> {
  const blob = await tipOf(repository, markerRef(changeId));
  if (blob === null) return null;
  const text = (await repository.read(['cat-file', 'blob', blob])).toString('utf8');
  const broken = (): Error =>
    targetMisconfigured(
      repository.target,
      `the ref ${markerRef(changeId)} does not point to a valid marker, so an operator must inspect it`,
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken();
  }
  const parsed = Marker.safeParse(value);
  if (!parsed.success || parsed.data.changeId !== changeId) throw broken();
  return { marker: parsed.data, blob };
}

export function writeMarkerBlob(repository: Repository, marker: Marker): Promise<string> {
  return repository.readText(['hash-object', '-w', '--stdin'], { stdin: canonicalJson(marker), persist: true });
}

/** `moved`: a ref differs from the expected value or is locked, and nothing was changed. `broken`: the outcome is unknown. */
type Updated =
  | { readonly kind: 'done' }
  | { readonly kind: 'moved'; readonly explanation: string }
  | { readonly kind: 'broken'; readonly explanation: string };

/** Updates all refs or none: git locks and compares every ref before it changes one. */
export async function updateRefs(repository: Repository, lines: readonly string[]): Promise<Updated> {
  const stdin = ['start', ...lines, 'prepare', 'commit', ''].join('\n');
  const { name, email } = repository.git.author;
  const asAuthor = ['-c', `user.name=${name}`, '-c', `user.email=${email}`];
  const args = [...asAuthor, 'update-ref', '-m', 'countersign', '--no-deref', '--stdin'];
  const result = await repository.run(args, { stdin, persist: true, ignoreCancellation: true });
  if (result.kind === 'broken') return result;
  return result.code === 0 ? { kind: 'done' } : { kind: 'moved', explanation: firstLine(result.stderr) };
}
