/**
 * Cursors of events, in base64url. They are of two kinds, which don't mix: a place in time, for `before`; and how far a reader
 * of the log is, for `after`.
 *
 *   t<ms>.<payment>                        newest first
 *   f<partition>:<offset>.<index>,...      in the order of the log; all numbers in base 36
 */
import type { EventPlace, FeedPosition } from '../../ports/deliveries-view.js';
import { decoded } from '../deliveries/page-query.js';

/** The `after` that begins with the oldest event. */
export const START = 'start';

const PLACE = /^t(\d{1,16})\.([!-~]{1,400})$/;
/** Ten digits in base 36 are a safe integer. */
const PASSED = /^([0-9a-z]{1,6}):([0-9a-z]{1,10})\.([0-9a-z]{1,6})$/;

export function placeCursor({ firstAt, payment }: EventPlace): string {
  return encoded(`t${firstAt}.${payment}`);
}

/** Null for any other text. */
export function readPlace(cursor: string): EventPlace | null {
  const [, firstAt, payment] = PLACE.exec(decoded(cursor)) ?? [];
  return firstAt !== undefined && payment !== undefined ? { firstAt: Number(firstAt), payment } : null;
}

export function positionCursor(position: FeedPosition): string {
  const passed = [...position].map(([partition, { offset, index }]) => {
    return `${partition.toString(36)}:${offset.toString(36)}.${index.toString(36)}`;
  });
  return encoded(`f${passed.join()}`);
}

/** Null for any other text. */
export function readPosition(cursor: string): FeedPosition | null {
  const text = cursor === START ? 'f' : decoded(cursor);
  if (!text.startsWith('f')) return null;
  const passed = text.slice(1).split(',').filter(Boolean).map(readPassed);
  return passed.every((one) => one !== null) ? new Map(passed) : null;
}

function readPassed(text: string) {
  const digits = PASSED.exec(text)?.slice(1);
  if (!digits) return null;
  const [partition = 0, offset = 0, index = 0] = digits.map((number) => Number.parseInt(number, 36));
  return [partition, { offset, index }] as const;
}

function encoded(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64url');
}
