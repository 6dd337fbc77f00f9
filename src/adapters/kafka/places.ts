/** Partitions of topics, as assigned by kafkajs and as stored here. */

/** Partitions by topic. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

export interface Place {
  readonly topic: string;
  readonly partition: number;
}

export function placesOf(assignment: Assignment): Place[] {
  return Object.entries(assignment).flatMap(([topic, partitions]) =>
    partitions.map((partition) => ({ topic, partition })),
  );
}

export function keyOf({ topic, partition }: Place): string {
  return `${partition} ${topic}`;
}
