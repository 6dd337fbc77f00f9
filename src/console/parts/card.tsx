import type { ComponentChildren } from 'preact';
import type { Polled } from '../state/polled.js';
import { Freshness, Loaded } from './screen-head.js';

interface CardParts<Data> {
  readonly title: string;
  readonly text: string;
  readonly of: Polled<Data>;
  /** It shows a table, which is a card by itself. */
  readonly isPlain?: boolean;
  readonly children: (data: Data) => ComponentChildren;
}

export function Card<Data>({ title, text, of, isPlain, children }: CardParts<Data>) {
  return (
    <section class={isPlain ? 'stack' : 'card stack'} aria-label={title}>
      <header class="split">
        <h2>{title}</h2>
        {of.data !== null && <Freshness of={of} />}
      </header>
      <p class="muted">{text}</p>
      <Loaded of={of}>{children}</Loaded>
    </section>
  );
}

/** A name and its value, in a list of them. */
export function Fact({
  name,
  tone,
  children,
}: {
  name: ComponentChildren;
  tone?: string;
  children: ComponentChildren;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={tone}>{children}</dd>
    </div>
  );
}
