/**
 * Sorts a topic's records by time across partitions. A broker returns records partition by partition, in its own order;
 * a topic larger than the memory is read once per part.
 */
import type { ReceivedRecord } from '../ports/broker.js';

/** Most characters of a part, at two bytes each at most. The search holds up to twice as many. */
const PART_CHARACTERS = 32 * 1024 ** 2;
/** A line's overhead, in characters. */
const LINE_OVERHEAD = 64;

type Place = Pick<ReceivedRecord, 'timestamp' | 'partition' | 'offset'>;

export interface Line {
  readonly place: Place;
  /** Created only for kept lines: most lines of a long topic are not kept in a pass. */
  readonly text: () => string;
}

/** The text instead of the record, whose value would keep the broker's whole response in memory. */
interface KeptLine {
  readonly place: Place;
  readonly text: string;
}

/** @param read all the lines, from the beginning each time @param partCharacters how much is sorted at a time */
export async function* oldestFirst(
  read: () => AsyncIterable<Line>,
  partCharacters = PART_CHARACTERS,
): AsyncIterable<string> {
  let end: Place | null = null;
  do {
    const part: Part = new Part(end, partCharacters);
    for await (const line of read()) part.add(line);
    yield* part.texts();
    end = part.end;
  } while (end);
}

export async function* asTheyCome(lines: AsyncIterable<Line>): AsyncIterable<string> {
  for await (const { text } of lines) yield text();
}

/** The newest lines, still oldest first. Holds up to twice as many meanwhile. */
export async function newest(read: () => AsyncIterable<Line>, count: number): Promise<string[]> {
  let lines: KeptLine[] = [];
  for await (const line of read()) {
    lines.push(kept(line));
    if (lines.length >= 2 * count) lines = lines.sort(byTime).slice(-count);
  }
  return lines
    .sort(byTime)
    .slice(-count)
    .map(({ text }) => text);
}

/** The oldest lines after a place, as many as fit, at least one. */
class Part {
  readonly #after: Place | null;
  readonly #room: number;
  #lines: KeptLine[] = [];
  #characters = 0;
  #end: Place | null = null;

  constructor(after: Place | null, room: number) {
    this.#after = after;
    this.#room = room;
  }

  /** The place of its last line, if later lines were left out. */
  get end(): Place | null {
    return this.#end;
  }

  add(line: Line): void {
    if (this.#after && comparePlaces(line.place, this.#after) <= 0) return;
    if (this.#end && comparePlaces(line.place, this.#end) > 0) return;
    const added = kept(line);
    this.#lines.push(added);
    this.#characters += lengthOf(added);
    if (this.#characters > 2 * this.#room) this.#cut();
  }

  texts(): string[] {
    this.#cut();
    return this.#lines.map(({ text }) => text);
  }

  #cut(): void {
    this.#lines.sort(byTime);
    let count = 0;
    let characters = 0;
    for (const line of this.#lines) {
      if (count > 0 && characters + lengthOf(line) > this.#room) break;
      characters += lengthOf(line);
      count += 1;
    }
    if (count < this.#lines.length) this.#end = this.#lines[count - 1]?.place ?? null;
    this.#lines.length = count;
    this.#characters = characters;
  }
}

function kept({ place, text }: Line): KeptLine {
  return { place, text: text() };
}

function lengthOf({ text }: KeptLine): number {
  return text.length + LINE_OVERHEAD;
}

function byTime(one: KeptLine, other: KeptLine): number {
  return comparePlaces(one.place, other.place);
}

/** Records of the same time are ordered by partition, then by offset. */
function comparePlaces(one: Place, other: Place): number {
  return one.timestamp - other.timestamp || one.partition - other.partition || one.offset - other.offset;
}
