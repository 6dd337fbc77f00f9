import { useState } from 'preact/hooks';
import { type Failure, post } from '../api/client.js';
import type { Schema } from '../api/shapes.js';
import { duration, latency } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { LastAnswer } from '../parts/outcome.js';
import { causeOf, reasonName, whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

type TestState =
  | { readonly kind: 'none' }
  | { readonly kind: 'testing' }
  | { readonly kind: 'not-sent'; readonly failure: Failure | null }
  | ({ readonly kind: 'sent' } & Schema<'WebhookTest'>);

export function useTest() {
  const [state, setState] = useState<TestState>({ kind: 'none' });
  const run = async (id: number | 'notices') => {
    setState({ kind: 'testing' });
    const result = await (id === 'notices'
      ? post('/api/notices/test')
      : post('/api/webhooks/{id}/test', { params: { path: { id } } }));
    if (result.kind === 'ok') setState({ kind: 'sent', ...result.data });
    else setState({ kind: 'not-sent', failure: result.kind === 'failed' ? result : null });
  };
  return { state, run };
}

interface TestButtonParts {
  readonly test: ReturnType<typeof useTest>;
  readonly webhookId: number | 'notices';
  readonly isPrimary?: boolean;
}

export function TestButton({ test, webhookId, isPrimary = false }: TestButtonParts) {
  return (
    <button
      type="button"
      class={isPrimary ? 'button primary' : 'button'}
      disabled={test.state.kind === 'testing'}
      onClick={() => test.run(webhookId)}
    >
      {texts.value.webhooks.test}
    </button>
  );
}

/** What became of a test event: the cause of a failure, and its remedy. */
export function Test({ state }: { state: TestState }) {
  const t = texts.value.webhooks;
  return (
    <div class="test" role="status">
      {state.kind === 'testing' ? (
        <p class="muted">{t.testing}</p>
      ) : state.kind === 'not-sent' ? (
        <p class="bad">
          {t.result.notSent} {state.failure && whyOf(state.failure, '')}{' '}
          {state.failure && state.failure.retryAfterMs > 0 && t.result.againIn(duration(state.failure.retryAfterMs))}
        </p>
      ) : (
        state.kind === 'sent' && <Sent {...state} />
      )}
    </div>
  );
}

function Sent({ success, result }: Schema<'WebhookTest'>) {
  const t = texts.value.webhooks.result;
  const { status, error, durationMs } = result;
  if (success && status !== null)
    return (
      <p class="callout good">
        <Icon name="delivered" />
        {t.accepted(status, latency(durationMs))}
      </p>
    );
  return (
    <div class="callout bad">
      <Icon name="alert" />
      <p>
        <b>{t.refused}</b>
        <span>
          <LastAnswer attempt={result} /> {causeOf(status, error)[0]} {result.reason && reasonName(result.reason)}
        </span>
        <span class="muted">{causeOf(status, error)[1]}</span>
      </p>
    </div>
  );
}
