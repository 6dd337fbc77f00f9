/** What changes the webhooks of a URL, after a question where it cannot be taken back. */
import type { Result } from '../api/client.js';
import { remove } from '../api/client.js';
import { whole } from '../format/numbers.js';
import { useAction } from '../parts/action.js';
import { EventName, UrlText } from '../parts/text.js';
import { askRecovery } from '../recover/recovering.js';
import type { UrlHealth } from '../state/urls.js';
import { setActive, type Webhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';

/** Nothing can be recovered before. */
export function Activate({ webhooks, onDone }: { webhooks: readonly Webhook[]; onDone: () => void }) {
  const { problems, webhooks: t } = texts.value;
  const off = webhooks.filter(({ isActive }) => !isActive);
  const activate = useAction({
    call: () => forEach(off, ({ id }) => setActive(id, true)),
    done: problems.activated,
    failed: t.failed,
    onDone,
  });
  return (
    <button type="button" class="button primary" disabled={activate.isBusy} onClick={activate.start}>
      {problems.activate}
    </button>
  );
}

interface Changing {
  readonly of: UrlHealth;
  /** Of the URL: all of them, or the one in whose row this stands. */
  readonly webhooks: readonly Webhook[];
  readonly onDone: () => void;
}

export function Pause({ of, webhooks, onDone }: Changing) {
  const t = texts.value.webhooks;
  const active = webhooks.filter(({ isActive }) => isActive);
  const pause = useAction({
    call: () => forEach(active, ({ id }) => setActive(id, false)),
    question: {
      title: t.pausing.title,
      yes: t.pausing.confirm,
      isDanger: true,
      text: <Consequences of={of} webhooks={active} explained={t.pausing.explained} />,
    },
    done: t.paused,
    failed: t.failed,
    onDone,
  });
  return (
    <>
      <button type="button" class="button" disabled={active.length === 0} onClick={pause.start}>
        {t.pause}
      </button>
      {pause.dialog}
    </>
  );
}

export function Remove({ of, webhooks, onDone }: Changing) {
  const t = texts.value.webhooks;
  const removal = useAction({
    call: () => forEach(webhooks, ({ id }) => remove('/api/webhooks/{id}', id)),
    question: {
      title: t.removing.title,
      yes: t.removing.confirm,
      isDanger: true,
      text: <Consequences of={of} webhooks={webhooks} explained={t.removing.explained} isRecoverable />,
    },
    done: t.removed,
    failed: t.failed,
    onDone,
  });
  return (
    <>
      <button type="button" class="button danger" onClick={removal.start}>
        {t.remove}
      </button>
      {removal.dialog}
    </>
  );
}

interface ConsequencesParts extends Omit<Changing, 'onDone'> {
  readonly explained: string;
  /** What is held and waits can be sent before. */
  readonly isRecoverable?: boolean;
}

/** What ends unsent. */
function Consequences({ of, webhooks, explained, isRecoverable = false }: ConsequencesParts) {
  const { webhooks: t, problems } = texts.value;
  const ids = new Set(webhooks.map(({ id }) => id));
  const own = of.healths.filter(({ webhookId }) => ids.has(webhookId));
  const sum = (name: 'waiting' | 'held') => own.reduce((total, one) => total + one[name], 0);
  const [waiting, held] = [sum('waiting'), sum('held')];
  return (
    <>
      <p class="subject">
        <UrlText url={of.url} />{' '}
        <small>
          {webhooks.map(({ id, type }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <EventName type={type} />
            </span>
          ))}
        </small>
      </p>
      <p>{explained}</p>
      {own.length === 0 && (
        <p>
          <b>{t.unsent}</b>
        </p>
      )}
      {waiting > 0 && (
        <p>
          <b>{t.unsentCount(waiting, whole(waiting))}</b>
        </p>
      )}
      {held > 0 && (
        <p>
          <b>{problems.held(held, whole(held))}</b>
        </p>
      )}
      {isRecoverable && waiting + held > 0 && of.state !== 'off' && (
        <p>
          <button type="button" class="button" onClick={() => askRecovery(of)}>
            {t.recoverFirst}
          </button>
        </p>
      )}
    </>
  );
}

/** One after the other; the first that fails ends it. */
async function forEach<T>(of: readonly T[], call: (one: T) => Promise<Result<unknown>>): Promise<Result<null>> {
  for (const one of of) {
    const result = await call(one);
    if (result.kind === 'failed') return result;
  }
  return { kind: 'ok', data: null, etag: null };
}
