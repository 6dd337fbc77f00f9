import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../icons/icon.js';

export interface Look {
  readonly kind?: 'primary' | 'danger' | undefined;
  readonly children: ComponentChildren;
}

interface ButtonParts extends Look {
  readonly isDisabled?: boolean;
  readonly onClick: () => unknown;
}

export function Button({ kind, isDisabled = false, onClick, children }: ButtonParts) {
  return (
    <button type="button" class={`button ${kind ?? ''}`} disabled={isDisabled} onClick={onClick}>
      {children}
    </button>
  );
}

/** An icon alone. @param name for screen readers, and on hover */
export function IconButton({ icon, name, onClick }: { icon: IconName; name: string; onClick: () => unknown }) {
  return (
    <button type="button" class="button square" title={name} aria-label={name} onClick={onClick}>
      <Icon name={icon} size={14} />
    </button>
  );
}

export function LinkButton({ kind, href, children }: Look & { href: string }) {
  return (
    <a class={`button ${kind ?? ''}`} href={href}>
      {children}
    </a>
  );
}
