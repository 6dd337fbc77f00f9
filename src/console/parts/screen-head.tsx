/** The top of a screen: its title, how fresh what it shows is, and what stands there while nothing has come. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { isFinal } from '../api/client.js';
import { clock } from '../format/times.js';
import { Icon } from '../icons/icon.js';
import type { Polled } from '../state/polled.js';
import { sessionState } from '../state/session.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

interface HeadParts {
  readonly title: string;
  /** What the screen shows; absent: its parts say how fresh they are. */
  readonly of?: Polled<unknown> | undefined;
  /** The title is a link, to the list that a screen of one thing belongs to. */
  readonly href?: string;
  /** Of the browser's tab. Default: the title. */
  readonly tab?: string;
  /** Actions. */
  readonly children?: ComponentChildren;
}

export function ScreenHead({ title, of, href, tab = title, children }: HeadParts) {
  const state = sessionState.value;
  const account = state.kind === 'open' ? texts.value.account(state.session.account) : texts.value.title;
  useEffect(() => {
    document.title = `${tab} · ${account}`;
  }, [tab, account]);
  return (
    <header class="screen-head split">
      {href ? (
        <a class="crumb" href={href}>
          ← {title}
        </a>
      ) : (
        <h1>{title}</h1>
      )}
      <div class="cluster">
        {of && of.data !== null && <Freshness of={of} />}
        {children}
      </div>
    </header>
  );
}

/** When the service last said what stands here, and why not since. */
export function Freshness({ of: { at, failure } }: { of: Polled<unknown> }) {
  const t = texts.value.freshness;
  if (!failure) return <span class="note muted">{t.justNow}</span>;
  const why = t.failing(failure.status);
  const since = at === null ? t.never : t.asOf(clock(new Date(at)));
  return (
    <span class="cluster note bad" role="status">
      <Icon name="alert" size={14} />
      {isFinal(failure) ? whyOf(failure, why) : `${why} ${since}`}
    </span>
  );
}

/** Greyed: it may have changed, or belongs to what was asked before. */
export const staleness = ({ failure, isLast }: Polled<unknown> & { isLast?: boolean }) =>
  failure || isLast ? ' stale' : '';

interface LoadedParts<Data> {
  readonly of: Polled<Data> & { readonly isLast?: boolean };
  readonly children: (data: Data) => ComponentChildren;
}

/** What came, greyed where it may have changed; until then a skeleton, or why there is none. */
export function Loaded<Data>({ of, children }: LoadedParts<Data>) {
  if (of.data === null) return <Skeleton of={of} />;
  return <div class={`stack${staleness(of)}`}>{children(of.data)}</div>;
}

/** While the first answer is on its way; or why there is none. */
export function Skeleton({ of }: { of?: Polled<unknown> }) {
  if (of?.failure)
    return (
      <div class="notice">
        <Freshness of={of} />
      </div>
    );
  return (
    <div class="skeleton stack" role="status" aria-label={texts.value.freshness.loading}>
      <span />
      <span />
      <span />
    </div>
  );
}
