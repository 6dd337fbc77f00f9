import type { Stats } from '../api/shapes.js';
import { percent, whole } from '../format/numbers.js';
import { addressOf } from '../state/addresses.js';
import type { UrlHealth } from '../state/urls.js';
import { texts } from '../texts/texts.js';
import { RANGES, type Range } from './charts.js';

interface FiguresParts {
  readonly stats: Stats;
  readonly urls: readonly UrlHealth[];
  readonly range: Range;
}

export function Figures({ stats, urls, range }: FiguresParts) {
  const { figures: t, outcomes } = texts.value;
  const payments = (arrived: string, period?: string) => addressOf('/payments', { arrived, period });
  const sum = (name: 'delivered' | 'failedAttempts' | 'exhausted' | 'held') =>
    stats.buckets.reduce((total, bucket) => total + bucket[name], 0);
  const attempts = sum('delivered') + sum('failedAttempts');
  const waiting = urls.reduce((total, one) => total + one.waiting, 0);
  // Given up and held are counted when they ended, listed by publication: of whatever time, for that was days before.
  const missing = payments('incomplete');
  const figures = [
    { name: outcomes.delivered, count: sum('delivered'), href: payments('all', RANGES[range].period), tone: '' },
    { name: outcomes.retrying, count: waiting, href: missing, tone: 'busy', note: t.newNotCounted },
    { name: outcomes.exhausted, count: sum('exhausted'), href: missing, tone: 'bad' },
    { name: outcomes.held, count: sum('held'), href: missing, tone: 'warn' },
  ];
  return (
    <div class="columns narrow">
      <div class="card figure">
        <span class="muted note">{t.success}</span>
        <b>{attempts > 0 ? percent(sum('delivered') / attempts) : '–'}</b>
        <small>{t.ofAttempts(attempts)}</small>
      </div>
      {figures.map(({ name, count, href, tone, note }) => (
        <a key={name} class="card figure" href={href}>
          <span class="muted note">{name}</span>
          <b class={count > 0 ? tone : ''}>{whole(count)}</b>
          {note && <small>{note}</small>}
        </a>
      ))}
    </div>
  );
}
