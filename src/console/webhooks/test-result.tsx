import { useEffect, useState } from 'preact/hooks';
import { post, type Result } from '../api/client.js';
import type { WebhookTest } from '../api/shapes.js';
import { duration } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { Problem } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { LastAnswer } from '../parts/outcome.js';
import { causeOf, whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

/** Null: none was made here. */
type TestState = Result<WebhookTest> | 'testing' | null;

interface TestParts {
  readonly of: number | 'notices';
  readonly isPrimary?: boolean;
  /** It begins by itself. */
  readonly isBegun?: boolean;
}

/** Sends a test event, and shows what became of it: the cause of a failure, and its remedy. */
export function Test({ of, isPrimary = false, isBegun = false }: TestParts) {
  const [state, setState] = useState<TestState>(null);
  const t = texts.value.webhooks;
  const isRunning = state === 'testing';
  const run = async () => {
    setState('testing');
    const test =
      of === 'notices' ? post('/api/notices/test') : post('/api/webhooks/{id}/test', { params: { path: { id: of } } });
    setState(await test);
  };
  useEffect(() => {
    if (isBegun) void run();
  }, [isBegun]);
  return (
    <>
      <Button kind={isPrimary ? 'primary' : undefined} isDisabled={isRunning} onClick={run}>
        {isRunning ? t.testing : t.test}
      </Button>
      <div class="test" role="status">
        {state !== null && !isRunning && <Tested result={state} />}
      </div>
    </>
  );
}

function Tested({ result }: { result: Result<WebhookTest> }) {
  const t = texts.value.webhooks.result;
  if (result.kind === 'same') return null;
  if (result.kind === 'failed') return <Problem text={whyOf(result, texts.value.failed)} />;
  const { success, result: answer } = result.data;
  const { status, durationMs } = answer;
  const [cause, remedy] = causeOf(answer);
  if (success && status !== null)
    return (
      <p class="callout good">
        <Icon name="delivered" />
        <span>{t.accepted(status, duration(durationMs))}</span>
      </p>
    );
  return (
    <div class="callout bad">
      <Icon name="alert" />
      <div class="stack tight">
        <b>{t.refused}</b>
        <span>
          <LastAnswer attempt={answer} /> {cause}
        </span>
        <span class="muted">{remedy}</span>
      </div>
    </div>
  );
}
