import { useRef } from 'preact/hooks';
import type { WebhookHealth } from '../api/shapes.js';
import { whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { NoWebhooks } from '../parts/no-webhooks.js';
import { addressOf } from '../state/addresses.js';
import { useWebhooks } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { Problem } from './problem.js';

/** First what is wrong, then that the rest is well. */
export function Problems({ health, onChanged }: { health: readonly WebhookHealth[]; onChanged: () => void }) {
  const shown = useRef<readonly number[]>([]);
  const webhooks = useWebhooks().data?.webhooks;
  const t = texts.value.problems;
  if (webhooks?.length === 0) return <NoWebhooks />;
  const wrong = inOrder(shown.current, health.filter(isWrong));
  shown.current = wrong.map(({ webhookId }) => webhookId);
  const waiting = health.reduce((sum, one) => sum + (isWrong(one) ? 0 : one.waiting), 0);
  const well = health.filter((one) => !isWrong(one));
  const count = (of: WebhookHealth['state']) => well.filter(({ state }) => state === of).length;
  const [healthy, untried, paused] = [count('healthy'), count('untried'), count('off')];
  const isAllWell = wrong.length === 0;
  const said = [
    healthy === health.length ? t.allWell(healthy) : isAllWell ? t.well(healthy) : healthy > 0 && t.othersWell(healthy),
    isAllWell && untried > 0 && t.noEvent(untried),
    // They lose payments: nothing else says so here.
    paused > 0 && t.pausedCount(paused),
  ];
  return (
    <section class="stack close" aria-label={t.label}>
      {wrong.map((one) => (
        <Problem
          key={one.webhookId}
          health={one}
          webhook={webhooks?.find(({ id }) => id === one.webhookId) ?? null}
          onChanged={onChanged}
        />
      ))}
      {(isAllWell || healthy + paused > 0) && (
        <p class={`cluster ${isAllWell ? 'good' : 'muted'}`}>
          <Icon name={isAllWell ? 'delivered' : 'check'} />
          {said.filter(Boolean).join('; ')}
          {waiting > 0 && (
            <a href={addressOf('/deliveries', { outcome: 'retrying' })}>{t.waiting(waiting, whole(waiting))}</a>
          )}
        </p>
      )}
    </section>
  );
}

const SEVERITY = { off: 0, failing: 1, unsteady: 2, healthy: 3, untried: 3 } as const;

/** Switched off first, then failing for longest. What is shown already keeps its place: people read it. */
function inOrder(shown: readonly number[], wrong: readonly WebhookHealth[]): readonly WebhookHealth[] {
  const place = ({ webhookId }: WebhookHealth) => (shown.includes(webhookId) ? shown.indexOf(webhookId) : shown.length);
  const severity = ({ state }: WebhookHealth) => SEVERITY[state];
  const since = (one: WebhookHealth) => Date.parse(one.since ?? '') || 0;
  return [...wrong].sort(
    (a, b) => place(a) - place(b) || severity(a) - severity(b) || since(a) - since(b) || a.webhookId - b.webhookId,
  );
}

/** What the account switched off itself is as it wants it to be, unless deliveries are kept for it. */
export function isWrong({ state, offBy, held }: WebhookHealth): boolean {
  return state === 'failing' || state === 'unsteady' || held > 0 || (state === 'off' && offBy === 'service');
}
