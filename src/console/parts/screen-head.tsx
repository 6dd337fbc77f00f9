import type { Polled } from '../state/polled.js';
import { Freshness } from './freshness.js';

interface HeadParts {
  readonly title: string;
  /** What the screen shows; absent: its parts say how fresh they are. */
  readonly of?: Polled<unknown>;
  /** The title is a link, to the list that a screen of one thing belongs to. */
  readonly href?: string;
}

export function ScreenHead({ title, of, href }: HeadParts) {
  return (
    <header class="screen-head">
      {href ? (
        <a class="crumb" href={href}>
          {title}
        </a>
      ) : (
        <h1>{title}</h1>
      )}
      {of && <Freshness of={of} />}
    </header>
  );
}
