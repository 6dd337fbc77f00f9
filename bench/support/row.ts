/** A row of the table: what is measured, the figure to reach, and what came out. */

export type Unit = 'ratio' | 'a second' | 'us' | 'ms' | 's' | 'MiB' | '% of a core' | 'lost' | 'failed' | 'deferred';

export interface Figure {
  readonly kind: 'at least' | 'at most' | 'below' | 'exactly';
  readonly value: number;
  readonly unit: Unit;
}

/** The sides of a ratio, or what else was seen in the same turns. */
export interface Side {
  readonly name: string;
  readonly unit: Unit;
  /** One a round. */
  readonly values: readonly number[];
}

export type Outcome =
  | {
      readonly kind: 'measured';
      /** Of the figure, one a round. */
      readonly values: readonly number[];
      readonly sides: readonly Side[];
      /** Sentences. */
      readonly notes: readonly string[];
    }
  | { readonly kind: 'not measured'; readonly why: string };

/** Progress: short, and often. */
export type Tell = (line: string) => void;

export interface Row {
  /** For BENCH_ONLY. */
  readonly name: string;
  readonly title: string;
  readonly figure: Figure;
  run(tell: Tell): Promise<Outcome>;
}

export function holds({ kind, value }: Figure, measured: number): boolean {
  switch (kind) {
    case 'at least':
      return measured >= value;
    case 'at most':
      return measured <= value;
    case 'below':
      return measured < value;
    case 'exactly':
      return measured === value;
    default:
      return kind satisfies never;
  }
}
