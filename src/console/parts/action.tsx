/** What changes something: perhaps a question, then one call, then what came of it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Failure, Result } from '../api/client.js';
import { say } from '../state/toast.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { Modal } from './modal.js';

interface Question {
  readonly title: string;
  readonly yes: string;
  readonly no?: string;
  readonly isDanger?: boolean;
  readonly text?: ComponentChildren;
}

interface Doing<T> {
  readonly call: () => Promise<Result<T>>;
  /** Absent: it is done at once. */
  readonly question?: Question | undefined;
  /** Said once it is done; null: what `onDone` does says so. */
  readonly done: string | null;
  /** Said where the service had no words of its own. */
  readonly failed: string | ((failure: Failure) => string);
  readonly onDone?: (data: T | null) => void;
}

/**
 * A failure stands in the dialog of its question, which stays; without one it is a toast.
 *
 * @returns start: begins it; isBusy: its call is on its way; dialog: to be rendered, the question while it is asked
 */
export function useAction<T>(doing: Doing<T>) {
  const [isAsking, ask] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const { question } = doing;
  const run = async () => {
    setBusy(true);
    setProblem(null);
    const result = await doing.call();
    setBusy(false);
    if (result.kind === 'failed') return fail(whyOrOwn(result, doing.failed));
    ask(false);
    doing.onDone?.(result.kind === 'ok' ? result.data : null);
    if (doing.done) say('done', doing.done);
  };
  const fail = (why: string) => (question ? setProblem(why) : say('failed', why));
  const start = () => {
    setProblem(null);
    if (question) ask(true);
    else void run();
  };
  const dialog = isAsking && question && (
    <Modal title={question.title} onClose={() => ask(false)} isPinned={isBusy}>
      {question.text}
      <Problem text={problem} />
      <footer>
        <button type="button" class="button" disabled={isBusy} onClick={() => ask(false)}>
          {question.no ?? texts.value.cancel}
        </button>
        <button
          type="button"
          class={`button ${question.isDanger ? 'danger' : 'primary'}`}
          disabled={isBusy}
          onClick={run}
        >
          {question.yes}
        </button>
      </footer>
    </Modal>
  );
  return { start, isBusy, dialog };
}

const whyOrOwn = (failure: Failure, failed: string | ((failure: Failure) => string)) =>
  typeof failed === 'string' ? whyOf(failure, failed) : failed(failure);

export function Problem({ text }: { text: string | null }) {
  return text ? (
    <p class="bad" role="alert">
      {text}
    </p>
  ) : null;
}
