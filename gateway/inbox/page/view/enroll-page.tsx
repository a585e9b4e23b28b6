import { useEffect, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { enroll, openLink, type OpenedLink } from '../enroll';
import { shortTime } from '../../../../policy/text/short-time';
import { failureText } from '../passkey';
import { Alert } from './alert';
import { SafeText } from './safe-text';

type Step =
  | { readonly kind: 'opening' }
  | { readonly kind: 'offered'; readonly link: OpenedLink; readonly busy: boolean; readonly error: string | null }
  | { readonly kind: 'enrolled'; readonly person: string }
  | { readonly kind: 'failed'; readonly message: string };

interface Props {
  /** Of the address of the link. */
  readonly fragment: string;
  readonly onDone: () => void;
}

/** Enrolment of a passkey by a one-time link. */
export function EnrollPage({ fragment, onDone }: Props): JSX.Element {
  const [step, setStep] = useState<Step>({ kind: 'opening' });
  useEffect(() => {
    openLink(fragment).then(
      (link) => setStep({ kind: 'offered', link, busy: false, error: null }),
      (error: unknown) => setStep({ kind: 'failed', message: failureText(error) }),
    );
  }, [fragment]);
  const register = async (link: OpenedLink): Promise<void> => {
    setStep({ kind: 'offered', link, busy: true, error: null });
    try {
      setStep({ kind: 'enrolled', person: await enroll(link) });
    } catch (error) {
      setStep({ kind: 'offered', link, busy: false, error: failureText(error) });
    }
  };
  return (
    <section class="entry" aria-labelledby="enroll-title" aria-live="polite">
      <h1 id="enroll-title" tabIndex={-1}>
        Enrol a passkey
      </h1>
      <StepView step={step} onRegister={register} onDone={onDone} />
    </section>
  );
}

interface StepProps {
  readonly step: Step;
  readonly onRegister: (link: OpenedLink) => Promise<void>;
  readonly onDone: () => void;
}

function StepView({ step, onRegister, onDone }: StepProps): JSX.Element {
  switch (step.kind) {
    case 'opening':
      return <p>Opening the link…</p>;
    case 'failed':
      return <Alert text={step.message} />;
    case 'offered': {
      const { subject, tenants, expiresAt } = step.link.enrollment;
      return (
        <>
          <p>
            This link enrols one passkey for{' '}
            <strong>
              <SafeText text={subject.id} />
            </strong>{' '}
            in <SafeText text={tenants.join(', ')} />, until {shortTime(expiresAt)}. The passkey signs your answers, and
            it stays on your device.
          </p>
          <button type="button" class="primary" disabled={step.busy} onClick={() => void onRegister(step.link)}>
            {step.busy ? 'Waiting for your device…' : 'Make a passkey'}
          </button>
          <Alert text={step.error} />
        </>
      );
    }
    case 'enrolled':
      return (
        <>
          <p>
            The passkey of{' '}
            <strong>
              <SafeText text={step.person} />
            </strong>{' '}
            is enrolled.
          </p>
          <button type="button" class="primary" onClick={onDone}>
            Go to the login
          </button>
        </>
      );
    default:
      return step satisfies never;
  }
}
