/** A time limit for operations that have none. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
  readonly code = 'TOOK_TOO_LONG';
}

/** Rejects with TookTooLong if the promise is not settled in time; its later result is ignored. */
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
