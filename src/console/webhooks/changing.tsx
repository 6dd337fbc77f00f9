/**
 * What changes the webhooks of a URL, after a question where it cannot be taken back. Each of them: which ones are active is
 * listed later than it shows, and a change that is one already changes nothing.
 */
import { type Result, remove } from '../api/client.js';
import type { Webhook } from '../api/shapes.js';
import { ActionButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { TypeNames, UrlText } from '../parts/text.js';
import { askRecovery } from '../recover/recovering.js';
import { isOff, type UrlHealth } from '../state/urls.js';
import { setActive } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';

/** Nothing can be recovered before: what it did not get is offered next. */
export function Activate({ webhooks, onDone }: { webhooks: readonly Webhook[]; onDone: () => void }) {
  const { problems: t } = texts.value;
  return (
    <ActionButton
      kind="primary"
      call={() => forEach(webhooks, ({ id }) => setActive(id, true))}
      done={t.activated}
      onDone={() => {
        onDone();
        askRecovery({ webhooks });
      }}
    >
      {t.activate}
    </ActionButton>
  );
}

interface Changing {
  readonly of: UrlHealth;
  /** Of the URL: all of them, or the one in whose row this stands. */
  readonly webhooks: readonly Webhook[];
  readonly onDone: () => void;
}

export function Pause({ of, webhooks, onDone }: Changing) {
  const t = texts.value.webhooks.pausing;
  return (
    <ActionButton
      call={() => forEach(webhooks, ({ id }) => setActive(id, false))}
      question={{ ...t, isDanger: true, text: <Consequences of={of} webhooks={webhooks} explained={t.explained} /> }}
      onDone={onDone}
    >
      {t.pause}
    </ActionButton>
  );
}

export function Remove({ of, webhooks, onDone }: Changing) {
  const t = texts.value.webhooks.removing;
  const text = <Consequences of={of} webhooks={webhooks} explained={t.explained} isRecoverable />;
  return (
    <ActionButton
      kind="danger"
      call={() => forEach(webhooks, ({ id }) => remove('/api/webhooks/{id}', id))}
      question={{ ...t, isDanger: true, text }}
      onDone={onDone}
    >
      {texts.value.remove}
    </ActionButton>
  );
}

interface ConsequencesParts extends Omit<Changing, 'onDone'> {
  readonly explained: string;
  /** What is held, waits or is exhausted can be sent before, and not after. */
  readonly isRecoverable?: boolean;
}

/** What ends unsent. */
function Consequences({ of, webhooks, explained, isRecoverable = false }: ConsequencesParts) {
  const { webhooks: t, problems } = texts.value;
  const own = of.healths.filter(({ webhookId }) => webhooks.some(({ id }) => id === webhookId));
  const sum = (name: 'waiting' | 'held' | 'exhausted') => own.reduce((total, one) => total + one[name], 0);
  const [waiting, held] = [sum('waiting'), sum('held')];
  const exhausted = isRecoverable ? sum('exhausted') : 0;
  const ends = [
    waiting > 0 && t.unsentCount(waiting),
    held > 0 && problems.held(held),
    exhausted > 0 && t.exhaustedCount(exhausted),
  ].filter(Boolean);
  return (
    <>
      <p>
        <UrlText url={of.url} /> <TypeNames of={webhooks} />
      </p>
      <p>{explained}</p>
      {ends.map((text) => (
        <p key={text}>
          <b>{text}</b>
        </p>
      ))}
      {isRecoverable && waiting + held + exhausted > 0 && (
        <p>{isOff(of) ? t.activateFirst : <Button onClick={() => askRecovery(of)}>{t.recoverFirst}</Button>}</p>
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
