import type { ComponentChildren } from 'preact';
import { Icon } from '../icons/icon.js';
import type { IconName } from '../icons/icons.js';

/** In place of content: why there is none, and what to do. */
export function Notice({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="notice">
      <span class="mark accent">
        <Icon name={icon} size={22} />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  );
}
