/** How many ticks of the event loop pass while work runs. */
import { setImmediate as nextTick } from 'node:timers/promises';

export async function countTicks<T>(work: Promise<T> | T): Promise<{ ticks: number; result: T }> {
  let ticks = 0;
  let isDone = false;
  const done = Promise.resolve(work).then((result) => {
    isDone = true;
    return result;
  });
  for (await nextTick(); !isDone; ticks += 1) await nextTick();
  return { ticks, result: await done };
}
