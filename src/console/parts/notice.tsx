import type { ComponentChildren } from 'preact';
import type { Right } from '../api/shapes.js';
import { Icon, type IconName } from '../icons/icon.js';
import { addressOf } from '../state/addresses.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { LinkButton } from './button.js';
import { isolated } from './text.js';

interface NoticeParts {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: string;
  readonly link?: readonly [href: string, name: string];
  readonly children?: ComponentChildren;
}

/** In place of content: why there is none, and what to do. */
export function Notice({ icon, title, text, link, children }: NoticeParts) {
  return (
    <div class="notice">
      <span class="mark accent">
        <Icon name={icon} size={22} />
      </span>
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {link && <LinkButton href={link[0]}>{link[1]}</LinkButton>}
      {children}
    </div>
  );
}

/** @param list that it would be in: its address and name */
export function NotThere({ id, list }: { id: string; list: readonly [href: string, name: string] }) {
  const t = texts.value.notThere;
  return <Notice icon="search" title={t.title} text={t.text(isolated(id))} link={list} />;
}

export function NoWebhooks() {
  const { noWebhooks: t } = texts.value.problems;
  const mayAdd = may('configure');
  return (
    <Notice icon="webhook" title={t.title} text={mayAdd ? t.text : missing('configure')}>
      {mayAdd && <AddWebhook />}
    </Notice>
  );
}

export function AddWebhook() {
  return (
    <LinkButton kind="primary" href={addressOf('/webhooks', { add: '1' })}>
      {texts.value.webhooks.add}
    </LinkButton>
  );
}

const missing = (right: Right) => texts.value.missingRight(texts.value.menu.rights[right]);

/** In place of what the session may not see or do. */
export function MissingRight({ right }: { right: Right }) {
  return (
    <p class="cluster muted note">
      <Icon name="lock" size={14} />
      {missing(right)}
    </p>
  );
}
