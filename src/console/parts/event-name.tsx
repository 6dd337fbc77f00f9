import { texts } from '../texts/texts.js';

/** A type of events: its name, and its code for who programs. */
export function EventName({ type }: { type: keyof typeof texts.value.eventTypes }) {
  return <span title={type}>{texts.value.eventTypes[type]}</span>;
}
