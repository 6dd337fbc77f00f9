import type { ComponentChildren } from 'preact';
import { Freshness, staleness } from '../parts/freshness.js';
import { Skeleton } from '../parts/skeleton.js';
import type { Polled } from '../state/polled.js';

interface CardParts<Data> {
  readonly title: string;
  readonly text: string;
  readonly of: Polled<Data>;
  /** While there is no data. */
  readonly lines: number;
  /** Below what is shown. */
  readonly below?: ComponentChildren;
  readonly children: (data: Data) => ComponentChildren;
}

export function SecurityCard<Data>({ title, text, of, lines, below, children }: CardParts<Data>) {
  return (
    <section class="card">
      <header class="card-head">
        <h2>{title}</h2>
        <Freshness of={of} />
      </header>
      <p class="muted">{text}</p>
      {of.data ? <div class={staleness(of)}>{children(of.data)}</div> : <Skeleton lines={lines} />}
      {below}
    </section>
  );
}
