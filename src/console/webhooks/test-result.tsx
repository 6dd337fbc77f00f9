import { useState } from 'preact/hooks';
import { post, type Result } from '../api/client.js';
import type { WebhookTest } from '../api/shapes.js';
import { duration } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { Button } from '../parts/button.js';
import { LastAnswer } from '../parts/outcome.js';
import { causeOf, whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

/** Null: none was made here. */
type TestState = Result<WebhookTest> | 'testing' | null;

export function useTest() {
  const [state, setState] = useState<TestState>(null);
  const run = async (id: number | 'notices') => {
    setState('testing');
    const test =
      id === 'notices' ? post('/api/notices/test') : post('/api/webhooks/{id}/test', { params: { path: { id } } });
    setState(await test);
  };
  return { state, run };
}

interface TestButtonParts {
  readonly test: ReturnType<typeof useTest>;
  readonly webhookId: number | 'notices';
  readonly isPrimary?: boolean;
}

export function TestButton({ test: { state, run }, webhookId, isPrimary = false }: TestButtonParts) {
  return (
    <Button kind={isPrimary ? 'primary' : undefined} isDisabled={state === 'testing'} onClick={() => run(webhookId)}>
      {texts.value.webhooks.test}
    </Button>
  );
}

/** What became of a test event: the cause of a failure, and its remedy. */
export function Test({ state }: { state: TestState }) {
  return (
    <div class="test" role="status">
      {state === 'testing' && <p class="muted">{texts.value.webhooks.testing}</p>}
      {state !== null && state !== 'testing' && <Tested result={state} />}
    </div>
  );
}

function Tested({ result }: { result: Result<WebhookTest> }) {
  const t = texts.value.webhooks.result;
  if (result.kind === 'same') return null;
  if (result.kind === 'failed')
    return (
      <p class="bad">
        {t.notSent} {whyOf(result, '')} {result.retryAfterMs > 0 && t.againIn(duration(result.retryAfterMs))}
      </p>
    );
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
