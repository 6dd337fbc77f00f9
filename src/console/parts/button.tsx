import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../icons/icon.js';

export interface Look {
  readonly kind?: 'primary' | 'danger' | 'ghost' | undefined;
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}

interface ButtonParts extends Look {
  readonly isDisabled?: boolean;
  readonly onClick: () => unknown;
}

export function Button({ kind, icon, isDisabled = false, onClick, children }: ButtonParts) {
  return (
    <button type="button" class={`button ${kind ?? ''}`} disabled={isDisabled} onClick={onClick}>
      {icon && <Icon name={icon} size={14} />}
      {children}
    </button>
  );
}

/** An icon alone. @param name for screen readers, and on hover */
export function IconButton({ icon, name, onClick }: { icon: IconName; name: string; onClick: () => unknown }) {
  return (
    <button type="button" class="button ghost square" title={name} aria-label={name} onClick={onClick}>
      <Icon name={icon} size={14} />
    </button>
  );
}

export function LinkButton({ kind, icon, href, children }: Look & { href: string }) {
  return (
    <a class={`button ${kind ?? ''}`} href={href}>
      {icon && <Icon name={icon} size={14} />}
      {children}
    </a>
  );
}
