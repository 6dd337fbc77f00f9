/** A time limit for what has none of its own. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
  readonly code = 'TOOK_TOO_LONG';
}

/** Rejects with TookTooLong where the promise is not settled in time; what it does later is nobody's any more. */
export async function withinTime<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TookTooLong(`no response within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}
