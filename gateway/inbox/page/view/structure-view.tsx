import type { JSX } from 'preact';
import { own } from '../model/own';
import { actionWord, type MemberChange, type ResourceChange, type Structure } from '../model/structure';
import { Badge, type Tone } from './badge';
import { SafeText } from './safe-text';

/** What the change does, above its full text. */
export function StructureView({ structure }: { readonly structure: Structure }): JSX.Element {
  switch (structure.kind) {
    case 'request':
      return <Request request={structure} />;
    case 'rows':
      return (
        <div class="structure">
          {structure.rows.map(({ operation, table, key, members }, i) => (
            <section key={i}>
              <h3>
                <Badge tone={operation === 'delete' ? 'bad' : 'info'} text={operation.toUpperCase()} />{' '}
                <SafeText text={table} /> <code>{<SafeText text={key} />}</code>
              </h3>
              <Members members={members} name="Column" />
            </section>
          ))}
        </div>
      );
    case 'resources':
      return (
        <div class="structure">
          {structure.resources.map((resource, i) => (
            <Resource resource={resource} key={i} />
          ))}
          {structure.unchanged > 0 && (
            <p class="note">Not changed by the plan: {structure.unchanged} more (in the text below).</p>
          )}
        </div>
      );
    default:
      return structure satisfies never;
  }
}

function Request({ request }: { readonly request: Extract<Structure, { kind: 'request' }> }): JSX.Element {
  const { method, url, headers, members, hasDocument } = request;
  return (
    <div class="structure">
      <p class="request-line">
        <Badge tone={method === 'DELETE' ? 'bad' : 'info'} text={method} />{' '}
        <code>
          <SafeText text={url} />
        </code>
      </p>
      {headers.length > 0 && (
        <dl class="headers">
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt>
                <SafeText text={name} />
              </dt>
              <dd>
                <SafeText text={value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {members.length > 0 && <Members members={members} name="Pointer" />}
      {members.length > 0 && (
        <p class="note">
          {hasDocument
            ? 'Old values are those of the document that the requester saw, as the change contains it.'
            : 'The change does not contain the old values.'}
        </p>
      )}
    </div>
  );
}

const ACTION_TONES: Readonly<Record<string, Tone>> = { delete: 'bad', replace: 'bad', forget: 'warn', create: 'good' };

function Resource({ resource: { address, action, members } }: { readonly resource: ResourceChange }): JSX.Element {
  return (
    <section>
      <h3>
        <Badge tone={own(ACTION_TONES, action) ?? 'info'} text={actionWord(action)} />{' '}
        <code>
          <SafeText text={address} />
        </code>
      </h3>
      {members.length > 0 && <Members members={members} name="Attribute" withOperation={false} />}
    </section>
  );
}

interface MembersProps {
  readonly members: readonly MemberChange[];
  readonly name: string;
  /** False if all members have the same one, which is shown above them. */
  readonly withOperation?: boolean;
}

function Members({ members, name, withOperation = true }: MembersProps): JSX.Element {
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="Members that are written">
      <table>
        <thead>
          <tr>
            {withOperation && <th scope="col">Operation</th>}
            <th scope="col">{name}</th>
            <th scope="col">Old</th>
            <th scope="col">New</th>
          </tr>
        </thead>
        <tbody>
          {members.map(({ operation, pointer, before, after }, i) => (
            <tr key={i}>
              {withOperation && (
                <td>
                  <SafeText text={operation} />
                </td>
              )}
              <td>
                <code>
                  <SafeText text={pointer === '' ? '(the whole document)' : pointer} />
                </code>
              </td>
              <td>{before === null ? <span class="quiet">—</span> : <Value tone="old" text={before} />}</td>
              <td>{after === null ? <span class="quiet">—</span> : <Value tone="new" text={after} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Value({ tone, text }: { readonly tone: 'old' | 'new'; readonly text: string }): JSX.Element {
  const Tag = tone === 'old' ? 'del' : 'ins';
  return (
    <Tag>
      <code>
        <SafeText text={text} />
      </code>
    </Tag>
  );
}
