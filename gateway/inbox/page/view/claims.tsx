import type { JSX } from 'preact';
import type { JsonValue } from '../../../../policy/contracts/canonical-json';
import { EFFECT_METADATA } from '../model/effect-metadata';
import { claimAnchor } from '../model/evidence';
import { own } from '../model/own';
import { SafeLines, SafeText } from './safe-text';

interface Props {
  readonly sourceTool: string;
  readonly metadata: Readonly<Record<string, JsonValue>>;
}

/** Members beside the bytes that become part of the effect, such as a commit message. */
export function EffectMetadata({ sourceTool, metadata }: Props): JSX.Element | null {
  const names = own(EFFECT_METADATA, sourceTool) ?? [];
  const members = Object.entries(metadata).filter(([name]) => names.includes(name));
  if (members.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="effect-metadata-title">
      <h2 id="effect-metadata-title">Written by the requester, and part of the effect</h2>
      <Members members={members} />
    </section>
  );
}

/** Everything else that the requester wrote. Folded: none of it was verified. */
export function Claims({ sourceTool, metadata }: Props): JSX.Element | null {
  const names = own(EFFECT_METADATA, sourceTool) ?? [];
  const members = Object.entries(metadata).filter(([name]) => !names.includes(name));
  if (members.length === 0) return null;
  return (
    <details class="panel claims">
      <summary>
        <h2>Claim of the requester (unverified)</h2>
      </summary>
      <p class="note">Written by the agent that asks. Nothing here was checked, except what a card says.</p>
      <Members members={members} />
    </details>
  );
}

function Members({ members }: { readonly members: readonly (readonly [string, JsonValue])[] }): JSX.Element {
  return (
    <dl class="claim-members">
      {members.map(([name, value]) => (
        <div key={name} id={claimAnchor(name)} data-block={claimAnchor(name)}>
          <dt>
            <SafeText text={name} />
          </dt>
          <dd>
            <SafeLines text={typeof value === 'string' ? value : JSON.stringify(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
