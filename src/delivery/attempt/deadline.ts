/**
 * A deadline on what comes from elsewhere. Where this process was held up (a stopped virtual machine, a slow disk), what came
 * meanwhile has not been looked at when the timer fires, and it would seem that others were late: it is looked at first.
 *
 * @returns what takes it back
 */
export function beginDeadline(ms: number, passed: () => void): () => void {
  let lastLook: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    // Immediates run when the event loop has looked at all sockets once.
    lastLook = setImmediate(passed);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(lastLook);
  };
}
