/**
 * Whether records are taken from the broker. Where this process itself is what is slow, to put deliveries off would make
 * that worse: a put-off costs more than a delivery, and what comes back from a tier would be put off again. So records
 * wait in their topics then, which costs nothing. Where endpoints are slow the process has time, and records are taken:
 * a full line is put off, and holds nobody else.
 *
 *   open -> held   (LONG wait in the lines, and the process is busy)
 *   held -> open   (only SHORT wait, or the process has time)
 */
import type { EndpointGate } from './endpoint-gate.js';

/** Of all lines together; far fewer than one line holds. */
const LONG = 1_500;
/** From there each consumer begins some again, so that one does not starve the other. */
const SHORT = 500;

export interface IntakeParts {
  readonly gate: Pick<EndpointGate, 'waiting'>;
  /** Asked only while much waits. */
  readonly isBusy: () => boolean;
}

/** Cheap: asked for each record. */
export function createIntake({ gate, isBusy }: IntakeParts): () => boolean {
  let held = false;
  return () => {
    held = gate.waiting > (held ? SHORT : LONG) && isBusy();
    return !held;
  };
}
