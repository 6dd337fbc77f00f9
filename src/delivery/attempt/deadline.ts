/**
 * A deadline on external input. If this process was held up (a paused virtual machine, a slow disk), input that arrived
 * meanwhile is still unread when the timer fires, and others would seem late. So that input is read first.
 *
 * @returns cancels the deadline
 */
export function beginDeadline(ms: number, passed: () => void): () => void {
  let lastLook: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    // Immediates run after the event loop has polled all sockets once.
    lastLook = setImmediate(passed);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(lastLook);
  };
}
