/** What /health/ready tells: each part, and why it is not ready. */

/** Why a part is not ready, in a few words; null: it is. */
export type WhyNot = () => string | null;

export interface PartState {
  readonly part: string;
  readonly ready: boolean;
  /** Whether the process does its work without it; else it is told, and the process is ready all the same. */
  readonly needed: boolean;
  readonly why?: string;
}

interface Part {
  readonly needed: () => boolean;
  readonly whyNot: WhyNot;
}

const always = () => true;

export class Readiness {
  readonly #parts = new Map<string, Part>();
  #stopping = false;

  /** Says it anew where the part is known already. */
  part(name: string, whyNot: WhyNot, { needed }: { needed?: boolean | (() => boolean) } = {}): void {
    const asked = typeof needed === 'boolean' ? () => needed : needed;
    this.#parts.set(name, { needed: asked ?? this.#parts.get(name)?.needed ?? always, whyNot });
  }

  /** From now on it is not ready, whatever the parts say. */
  stopping(): void {
    this.#stopping = true;
  }

  get parts(): readonly PartState[] {
    return [...this.#parts].map(([part, { needed, whyNot }]) => {
      const why = whyNot();
      return { part, ready: why === null, needed: needed(), ...(why !== null && { why }) };
    });
  }

  /** The body of the answer; 200 where it is ready, else 503. */
  report(): { ready: boolean; body: object } {
    const { parts } = this;
    const waitingFor = parts.filter(({ ready, needed }) => needed && !ready).map(({ part }) => part);
    if (this.#stopping) return { ready: false, body: { status: 'stopping', waitingFor, parts } };
    const ready = waitingFor.length === 0;
    return { ready, body: ready ? { status: 'ready', parts } : { status: 'not ready', waitingFor, parts } };
  }
}
