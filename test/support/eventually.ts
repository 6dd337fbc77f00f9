/** Waits for a condition instead of for a time. */
const LOOK_EVERY_MS = 5;

export async function eventually<T>(
  condition: () => T | Promise<T>,
  { timeout = 10_000, message = 'the condition did not come true' }: { timeout?: number; message?: string } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeout;
  for (;;) {
    const result = await condition();
    if (result) return result as Exclude<T, undefined | null | false>;
    if (performance.now() > deadline) throw new Error(`${message} (within ${timeout} ms)`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
