import type { WebhookHealth } from '../api/shapes.js';
import { latency, percent, whole } from '../format/numbers.js';
import { UrlText } from '../parts/url-text.js';
import { webhookAddress } from '../state/addresses.js';
import { may } from '../state/session.js';
import type { Webhook } from '../state/webhooks.js';
import { webhookTexts } from '../texts/webhooks.js';
import { PauseOrActivate, Remove } from './changing.js';
import { DayBars } from './day-bars.js';
import { Test, TestButton, useTest } from './test-result.js';
import { summaryOf, useDay } from './use-day.js';
import { LastEvent, StateBadge } from './webhook-state.js';

/** A URL that answers some of its attempts is called healthy: below this share its user should look. */
const WELL = 0.95;
const NOT_KNOWN = { share: null, p95Ms: null, exhausted: null };

interface RowParts {
  readonly webhook: Webhook;
  /** Null: not known yet. */
  readonly health: WebhookHealth | null;
  /** With its figures of 24 hours, which are a call of their own. */
  readonly isCounted: boolean;
  readonly onChanged: () => void;
}

export function WebhookRow({ webhook, health, isCounted, onChanged }: RowParts) {
  const t = webhookTexts.value;
  const test = useTest();
  const waiting = health?.waiting ?? null;
  return (
    <li class="hook">
      <div class="hook-name">
        <a class="row-link" href={webhookAddress(webhook.id)}>
          <UrlText url={webhook.url} />
        </a>
        <small>{health && <LastEvent health={health} />}</small>
      </div>
      <span class="hook-state">{health && <StateBadge health={health} />}</span>
      {isCounted && <DayBars webhookId={webhook.id} />}
      {isCounted && <Day webhookId={webhook.id} />}
      <Measure name={t.waiting} value={health && whole(health.waiting)} isNone={!health?.waiting} />
      <Measure name={t.held} value={health && whole(health.held)} isNone={!health?.held} />
      {may('configure') && (
        <div class="cluster">
          <TestButton test={test} webhookId={webhook.id} name={t.testHere} />
          <PauseOrActivate webhook={webhook} waiting={waiting} onChanged={onChanged} />
          <Remove webhook={webhook} waiting={waiting} onChanged={onChanged} isIcon />
        </div>
      )}
      <Test state={test.state} />
    </li>
  );
}

function Day({ webhookId }: { webhookId: number }) {
  const t = webhookTexts.value;
  const { times, stats } = useDay(webhookId);
  const { share, p95Ms, exhausted } = stats.data ? summaryOf(stats.data, times) : NOT_KNOWN;
  return (
    <>
      <Measure
        name={t.success}
        value={share === null ? null : percent(share)}
        tone={share !== null && share < WELL ? 'warn' : undefined}
      />
      <Measure name={t.p95} title={t.p95Of} value={p95Ms === null ? null : latency(p95Ms)} />
      <Measure name={t.givenUp} value={exhausted === null ? null : whole(exhausted)} tone="bad" isNone={!exhausted} />
    </>
  );
}

interface MeasureParts {
  readonly name: string;
  readonly value: string | null;
  readonly title?: string;
  readonly tone?: string | undefined;
  /** Of what is best at zero. */
  readonly isNone?: boolean;
}

function Measure({ name, value, title, tone, isNone = false }: MeasureParts) {
  return (
    <span class={`measure${isNone ? ' none' : ''}`} title={title}>
      <b class={isNone ? 'muted' : tone}>{value ?? '–'}</b>
      <small>{name}</small>
    </span>
  );
}
