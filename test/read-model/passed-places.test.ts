import { beforeEach, expect, test } from '@jest/globals';
import { StoreUnavailable } from '../../src/ports/event-store.js';
import { PassedPlaces } from '../../src/read-model/passed-places.js';

let places: PassedPlaces;
beforeEach(() => {
  places = new PassedPlaces((position, head) => Number(position) >= Number(head));
});

const never = new AbortController().signal;

test('a place that is behind is passed at once, one that is ahead when the states come to it', async () => {
  places.moved('5');
  await places.until('5', never);
  const passed: string[] = [];
  const waits = ['6', '8'].map((head) => places.until(head, never).then(() => passed.push(head)));
  places.moved('7');
  await waits[0];
  expect(passed).toEqual(['6']);
  places.moved('8');
  await Promise.all(waits);
  expect(passed).toEqual(['6', '8']);
});

test('with nothing committed yet it waits', async () => {
  const wait = places.until('0', never);
  places.moved('0');
  await wait;
});

test('a lost connection ends every wait: the store may come back with an earlier head', async () => {
  places.moved('5');
  const wait = places.until('8', never);
  places.forget();
  await expect(wait).rejects.toThrow(StoreUnavailable);
  const next = places.until('5', never);
  places.moved('5');
  await next;
});

test('who gives up is rejected, before or while it waits', async () => {
  const stopping = new AbortController();
  const wait = places.until('1', stopping.signal);
  stopping.abort(new Error('stopping'));
  await expect(wait).rejects.toThrow('stopping');
  await expect(places.until('1', stopping.signal)).rejects.toThrow('stopping');
  places.moved('1');
});
