import { useEffect, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { GroupNumbers, RuleNumbers, TeamNumbers } from '../../api';
import { api, apiError } from '../api-client';
import { ruleTitle } from '../model/cards';
import { durationText } from '../model/deadline';
import { Alert } from './alert';
import { SafeText } from './safe-text';

const PERIODS = [7, 30, 90] as const;

/** How the team answers, by rule and by group. Never by person. */
export function NumbersPage(): JSX.Element {
  const [days, setDays] = useState<number>(30);
  const [numbers, setNumbers] = useState<TeamNumbers | string | null>(null);
  useEffect(() => {
    let current = true;
    const show = (next: TeamNumbers | string): void => {
      if (current) setNumbers(next);
    };
    api.numbers(days).then(show, (error: unknown) => show(apiError(error).message));
    return () => {
      current = false;
    };
  }, [days]);
  return (
    <section class="numbers" aria-labelledby="numbers-title">
      <h1 id="numbers-title" tabIndex={-1}>
        Numbers
      </h1>
      <div class="segmented" role="group" aria-label="Period">
        {PERIODS.map((period) => (
          <button type="button" key={period} aria-pressed={days === period} onClick={() => setDays(period)}>
            {period} days
          </button>
        ))}
      </div>
      {numbers === null && <p role="status">Reading the numbers…</p>}
      {typeof numbers === 'string' && <Alert look="banner bad" text={numbers} />}
      {numbers !== null && typeof numbers !== 'string' && <Figures numbers={numbers} />}
    </section>
  );
}

function Figures({ numbers }: { readonly numbers: TeamNumbers }): JSX.Element {
  const { reviews, committed, rolledBack, expired, refusals, medianSecondsToAnswer, confirmedWithin5s } = numbers;
  const figures: readonly (readonly [string, string])[] = [
    ['Reviews', String(reviews)],
    ['Committed', String(committed)],
    ['Rolled back', String(rolledBack)],
    ['Expired', String(expired)],
    ['Refused answers', String(refusals)],
    ['Median time to answer', secondsText(medianSecondsToAnswer)],
    ['Confirmed within 5 s', shareText(confirmedWithin5s)],
  ];
  return (
    <>
      <dl class="figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Table
        label="Numbers by rule"
        caption="By rule"
        columns={['Rule', 'Asked', 'Confirmed', 'Rejected', 'Expired', 'Median time']}
        rows={numbers.byRule.map(ofRule)}
      />
      <Table
        label="Numbers by group"
        caption="By group of people"
        columns={['Group', 'Answers', 'Median time', 'Confirmed within 5 s']}
        rows={numbers.byGroup.map(ofGroup)}
      />
    </>
  );
}

function ofRule(numbers: RuleNumbers): Row {
  const { rule, asked, confirmed, rejected, expired, medianSecondsToAnswer, tuneCommand } = numbers;
  const name = (
    <>
      <SafeText text={ruleTitle(rule)} />
      {tuneCommand !== null && (
        <span class="tune">
          People always confirm it. To change it:{' '}
          <code>
            <SafeText text={tuneCommand} />
          </code>
        </span>
      )}
    </>
  );
  return { key: rule, name, cells: [asked, confirmed, rejected, expired, secondsText(medianSecondsToAnswer)] };
}

function ofGroup({ group, answers, medianSecondsToAnswer, confirmedWithin5s }: GroupNumbers): Row {
  const cells = [answers, secondsText(medianSecondsToAnswer), shareText(confirmedWithin5s)];
  return { key: group, name: <SafeText text={group} />, cells };
}

interface Row {
  readonly key: string;
  readonly name: JSX.Element;
  readonly cells: readonly (string | number)[];
}

interface TableProps {
  readonly label: string;
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

function Table({ label, caption, columns, rows }: TableProps): JSX.Element | null {
  if (rows.length === 0) return null;
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label={label}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, cells }) => (
            <tr key={key}>
              <th scope="row">{name}</th>
              {cells.map((cell, i) => (
                <td key={i}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function secondsText(seconds: number | null): string {
  return seconds === null ? 'none' : durationText(seconds);
}

function shareText(share: number | null): string {
  return share === null ? 'none' : `${Math.round(share * 100)} %`;
}
