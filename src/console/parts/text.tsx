/** What strangers write. */
import type { Webhook } from '../api/shapes.js';
import { indentJson } from '../format/json-text.js';
import { activeOf } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';

/** By itself, so that it reorders nothing around it. */
export function Untrusted({ text }: { text: string }) {
  return <bdi>{text}</bdi>;
}

/**
 * For the middle of a sentence: between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE (Unicode UAX 9), which it must not
 * end itself. ASCII needs none, and is found by a search in the page without them.
 */
export const isolated = (text: string) =>
  /^[ -~]*$/.test(text) ? text : `\u2068${text.replaceAll('\u2069', '')}\u2069`;

/** Where there is too little room, the middle of the path is cut: host and end tell URLs apart. */
export function UrlText({ url }: { url: string }) {
  const [host, path] = splitUrl(url);
  const end = Math.max(0, path.replace(/\/$/, '').lastIndexOf('/'));
  return (
    <span class="url" title={url}>
      <b>
        <Untrusted text={host} />
      </b>
      <span class="path muted">
        <span class="cut">
          <Untrusted text={path.slice(0, end)} />
        </span>
        <span class="cut end">
          <Untrusted text={path.slice(end)} />
        </span>
      </span>
    </span>
  );
}

/** Host, with its port, and path, with its query. */
export function splitUrl(url: string): readonly [host: string, path: string] {
  const match = /^https?:\/\/([^/?#]+)(.*)$/s.exec(url);
  return [match?.[1] ?? url, match?.[2] ?? ''];
}

/** An id of payments: they share their beginning, so that is what is cut off. */
export function Id({ text }: { text: string }) {
  return (
    <code class="id" title={text}>
      <Untrusted text={text.length > 32 ? `…${text.slice(-31)}` : text} />
    </code>
  );
}

/** A type of events: its name, and its code for those that program. */
export function EventName({ type }: { type: keyof typeof texts.value.eventTypes }) {
  return <span title={type}>{texts.value.eventTypes[type]}</span>;
}

/** @param among all webhooks of the account, where it is shown how many of each type are active */
export function TypeNames({ of, among }: { of: readonly Webhook[]; among?: readonly Webhook[] }) {
  return (
    <small>
      {of.map(({ type }) => (
        <span key={type} class="type">
          <EventName type={type} />
          {among && ` (${texts.value.webhooks.active(activeOf(type, among))})`}
        </span>
      ))}
    </small>
  );
}

export function Json({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre class="code" tabIndex={0}>
      <Untrusted text={indentJson(text)} />
    </pre>
  );
}
