/** The content of /health/ready: each part, and why a part is not ready. */

/** Why a part is not ready, in a few words; null: ready. */
export type WhyNot = () => string | null;

export interface PartState {
  readonly part: string;
  readonly ready: boolean;
  /**
   * Whether the process needs the part to do its work; otherwise the part is shown, and the process is ready all the
   * same.
   */
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

  /** Replaces a part of the same name. */
  part(name: string, whyNot: WhyNot, { needed }: { needed?: boolean | (() => boolean) } = {}): void {
    const asked = typeof needed === 'boolean' ? () => needed : needed;
    this.#parts.set(name, { needed: asked ?? this.#parts.get(name)?.needed ?? always, whyNot });
  }

  /** From now on not ready, whatever the parts say. */
  stopping(): void {
    this.#stopping = true;
  }

  get parts(): readonly PartState[] {
    return [...this.#parts].map(([part, { needed, whyNot }]) => {
      const why = whyNot();
      return { part, ready: why === null, needed: needed(), ...(why !== null && { why }) };
    });
  }

  /** The response's body; 200 if ready, else 503. */
  report(): { ready: boolean; body: object } {
    const { parts } = this;
    const waitingFor = parts.filter(({ ready, needed }) => needed && !ready).map(({ part }) => part);
    if (this.#stopping) return { ready: false, body: { status: 'stopping', waitingFor, parts } };
    const ready = waitingFor.length === 0;
    return { ready, body: ready ? { status: 'ready', parts } : { status: 'not ready', waitingFor, parts } };
  }
}
