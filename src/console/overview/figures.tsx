import type { ComponentChildren } from 'preact';
import type { Stats } from '../api/shapes.js';
import { percent, whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
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
  const { figures: t, counts } = texts.value;
  const { period } = RANGES[range];
  const payments = (arrived: string, of?: string) => addressOf('/payments', { arrived, period: of });
  const sum = (name: 'delivered' | 'failedAttempts' | 'exhausted' | 'held') =>
    stats.buckets.reduce((total, bucket) => total + bucket[name], 0);
  const delivered = sum('delivered');
  const attempts = delivered + sum('failedAttempts');
  const waiting = urls.reduce((total, one) => total + one.waiting, 0);
  return (
    <div class="figures">
      <Figure name={t.success} note={t.ofAttempts(attempts)}>
        {attempts > 0 ? percent(delivered / attempts) : '–'}
      </Figure>
      <Figure name={counts.delivered} href={payments('all', period)}>
        {whole(delivered)}
      </Figure>
      <Figure name={counts.retrying} note={t.now} href={payments('nowhere')} tone={waiting > 0 ? 'busy' : ''}>
        {whole(waiting)}
      </Figure>
      {/* Counted when they ended, listed by publication: of whatever time, for that was days before. */}
      <Figure name={counts.exhausted} href={payments('nowhere')} tone={sum('exhausted') > 0 ? 'bad' : ''}>
        {whole(sum('exhausted'))}
      </Figure>
      <Figure name={counts.held} note={t.heldNote} href={payments('nowhere')} tone={sum('held') > 0 ? 'warn' : ''}>
        {whole(sum('held'))}
      </Figure>
    </div>
  );
}

interface FigureParts {
  readonly name: string;
  readonly note?: string;
  readonly href?: string;
  readonly tone?: string;
  readonly children: ComponentChildren;
}

function Figure({ name, note, href, tone = '', children }: FigureParts) {
  return (
    <a class="card figure" {...(href && { href })}>
      <span class="muted note">
        {name}
        {href && <Icon name="next" size={14} />}
      </span>
      <b class={tone}>{children}</b>
      <small>{note}</small>
    </a>
  );
}
