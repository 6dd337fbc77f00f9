import type { ComponentChildren } from 'preact';
import { clockMs, day, full, utcClock } from '../format/times.js';
import { Icon } from '../icons/icon.js';
import type { IconName } from '../icons/icons.js';

interface StepParts {
  readonly tone: 'good' | 'bad' | 'warn' | 'busy' | 'muted';
  readonly icon: IconName;
  readonly title: ComponentChildren;
  readonly at?: string;
  readonly children?: ComponentChildren;
}

export function Step({ tone, icon, title, at, children }: StepParts) {
  const time = at ? new Date(at) : null;
  return (
    <li class={`step ${tone}`}>
      <span class="mark">
        <Icon name={icon} size={14} />
      </span>
      <div class="stack tight">
        <div class="split">
          <span>{title}</span>
          {time && (
            <time class="muted note" dateTime={at} title={full(time)}>
              {day(time)} <b>{clockMs(time)}</b> <small>{utcClock(time)}</small>
            </time>
          )}
        </div>
        {children}
      </div>
    </li>
  );
}
