/** What changes something: perhaps a question, then one call, then what came of it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Failure, Result } from '../api/client.js';
import { say } from '../state/toast.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { Button, type Look } from './button.js';
import { Modal } from './modal.js';

interface Question {
  readonly title: string;
  readonly yes: string;
  readonly no?: string;
  readonly isDanger?: boolean;
  readonly text: ComponentChildren;
}

interface ActionParts<T> extends Look {
  readonly isDisabled?: boolean;
  readonly call: () => Promise<Result<T>>;
  /** Absent: it is done at once. */
  readonly question?: Question | undefined;
  /** Said once it is done. Default: that it is; null: what `onDone` does says so. */
  readonly done?: string | null;
  /** Why it failed. Default: in the service's words, if it had any. */
  readonly whyFailed?: (failure: Failure) => string;
  readonly onDone?: (data: T | null) => void;
}

/** A button that begins an action. A failure stands in the dialog of its question, which stays; without one it is a toast. */
export function ActionButton<T>({ question, done = texts.value.done, ...parts }: ActionParts<T>) {
  const { kind, isDisabled, call, whyFailed = why, onDone, children } = parts;
  const [isAsking, ask] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const fail = (text: string) => (question ? setProblem(text) : say('failed', text));
  const run = async () => {
    setBusy(true);
    setProblem(null);
    const result = await call();
    setBusy(false);
    if (result.kind === 'failed') return fail(whyFailed(result));
    ask(false);
    onDone?.(result.kind === 'ok' ? result.data : null);
    if (done) say('done', done);
  };
  const start = () => {
    setProblem(null);
    if (question) ask(true);
    else void run();
  };
  return (
    <>
      <Button kind={kind} isDisabled={isDisabled || isBusy} onClick={start}>
        {children}
      </Button>
      {isAsking && question && (
        <Modal title={question.title} onClose={() => ask(false)} isPinned={isBusy}>
          {typeof question.text === 'string' ? <p>{question.text}</p> : question.text}
          <Problem text={problem} />
          <footer>
            <Button isDisabled={isBusy} onClick={() => ask(false)}>
              {question.no ?? texts.value.cancel}
            </Button>
            <Button kind={question.isDanger ? 'danger' : 'primary'} isDisabled={isBusy} onClick={run}>
              {question.yes}
            </Button>
          </footer>
        </Modal>
      )}
    </>
  );
}

const why = (failure: Failure) => whyOf(failure, texts.value.failed);

export function Problem({ text }: { text: string | null }) {
  return text ? (
    <p class="bad" role="alert">
      {text}
    </p>
  ) : null;
}
