import { useEffect, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { GroupNumbers, RuleNumbers, TeamNumbers } from '../../api';
import { api, ApiError } from '../api-client';
import { ruleTitle } from '../model/cards';
import { durationText } from '../model/deadline';
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
    api.numbers(days).then(show, (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      show(error.message);
    });
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
      {typeof numbers === 'string' && (
        <p class="banner bad" role="alert">
          {numbers}
        </p>
      )}
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
      <Rules rules={numbers.byRule} />
      <Groups groups={numbers.byGroup} />
    </>
  );
}

function Rules({ rules }: { readonly rules: readonly RuleNumbers[] }): JSX.Element | null {
  if (rules.length === 0) return null;
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="Numbers by rule">
      <table>
        <caption>By rule</caption>
        <thead>
          <tr>
            {['Rule', 'Asked', 'Confirmed', 'Rejected', 'Expired', 'Median time'].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rules.map(({ rule, asked, confirmed, rejected, expired, medianSecondsToAnswer, tuneCommand }) => (
            <tr key={rule}>
              <th scope="row">
                <SafeText text={ruleTitle(rule)} />
                {tuneCommand !== null && (
                  <span class="tune">
                    People always confirm it. To change it:{' '}
                    <code>
                      <SafeText text={tuneCommand} />
                    </code>
                  </span>
                )}
              </th>
              <td>{asked}</td>
              <td>{confirmed}</td>
              <td>{rejected}</td>
              <td>{expired}</td>
              <td>{secondsText(medianSecondsToAnswer)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Groups({ groups }: { readonly groups: readonly GroupNumbers[] }): JSX.Element | null {
  if (groups.length === 0) return null;
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="Numbers by group">
      <table>
        <caption>By group of people</caption>
        <thead>
          <tr>
            {['Group', 'Answers', 'Median time', 'Confirmed within 5 s'].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map(({ group, answers, medianSecondsToAnswer, confirmedWithin5s }) => (
            <tr key={group}>
              <th scope="row">
                <SafeText text={group} />
              </th>
              <td>{answers}</td>
              <td>{secondsText(medianSecondsToAnswer)}</td>
              <td>{shareText(confirmedWithin5s)}</td>
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
