import { useState } from 'preact/hooks';
import { api, type Failure, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import { LastAnswer } from '../deliveries/last-answer.js';
import { duration, latency } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';

type TestState =
  | { readonly kind: 'none' }
  | { readonly kind: 'testing' }
  | { readonly kind: 'not-sent'; readonly failure: Failure | null }
  | ({ readonly kind: 'sent' } & components['schemas']['WebhookTest']);

export function useTest() {
  const [state, setState] = useState<TestState>({ kind: 'none' });
  const run = async (id: number) => {
    setState({ kind: 'testing' });
    const result = await resultOf(api.POST('/api/webhooks/{id}/test', { params: { path: { id } } }));
    if (result.kind === 'ok') setState({ kind: 'sent', ...result.data });
    else setState({ kind: 'not-sent', failure: result.kind === 'failed' ? result : null });
  };
  return { state, run };
}

interface TestButtonParts {
  readonly test: ReturnType<typeof useTest>;
  readonly webhookId: number;
  readonly name: string;
}

export function TestButton({ test, webhookId, name }: TestButtonParts) {
  return (
    <button type="button" class="button" disabled={test.state.kind === 'testing'} onClick={() => test.run(webhookId)}>
      {name}
    </button>
  );
}

/** What became of a test event: the cause of a failure, and its remedy. */
export function Test({ state }: { state: TestState }) {
  const t = webhookTexts.value;
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

function Sent({ success, result }: components['schemas']['WebhookTest']) {
  const t = webhookTexts.value.result;
  const { causes, reason } = texts.value;
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
          <LastAnswer attempt={result} /> {causes.title(status, error)} {result.reason && reason(result.reason)}
        </span>
        <span class="muted">{causes.remedy(status, error)}</span>
      </p>
    </div>
  );
}
