/** events publish: NDJSON payment events from stdin, as a payment system would: to the configured broker, or by HTTP. */
import type { Command } from 'commander';
import { type EventCatalogue, loadCatalogue } from '../payments/event-catalogue.js';
import { linesOf, NEWLINE, type NumberedLine } from '../payments/ndjson.js';
import { type PaymentEvent, parsePaymentEvent } from '../payments/payment-event.js';
import type { NewRecord } from '../ports/broker.js';
import { command, option, type Running } from './command.js';
import { CommandFailed, type CommandIo } from './command-io.js';
import { HttpPublisher } from './http-publisher.js';
import { serviceUrl } from './service-client.js';
import { type CredentialOptions, clientIdOption, clientSecretOption, givenCredentials } from './token.js';

/** Lines per publication: made durable together, in order. With the longest line of bytes more, it fits a request. */
const BATCH = 500;
const BATCH_BYTES = 512 * 1024;

interface PublishOptions extends CredentialOptions {
  readonly topic?: string;
  readonly url?: string;
  readonly check?: boolean;
}

type Publishing = Running<PublishOptions>;

export function eventsCommand(program: Command, io: CommandIo): void {
  command<PublishOptions>(program.command('events').description('publish payment events'), io, {
    name: 'publish',
    says: 'publish the payment events on stdin, one per line; ends when all are durable',
    options: [
      option('--topic <topic>', 'default: the first of PAYMENT_TOPICS'),
      option(
        '--check',
        'publish nothing and exit with 1 if a line is not a payment event, or its data not as EVENT_SCHEMAS says',
      ),
      option('--url <url>', "publish through the service at this URL, with a publisher's credentials"),
      clientIdOption(),
      clientSecretOption('of the publisher, with --url'),
    ],
    run: publishLines,
  });
}

interface Target {
  readonly publish: (records: readonly NewRecord[]) => Promise<unknown>;
  /** The topic takes any bytes, and the dispatcher decides; the service takes payment events only. */
  readonly takesAnything: boolean;
}

/** Reports wrong settings before stdin is read, which may take long. @returns opens it */
function targetOf(running: Publishing): () => Promise<Target> {
  const { options, io } = running;
  if (options.url !== undefined) {
    const credentials = givenCredentials(running);
    const publisher = new HttpPublisher(serviceUrl(options.url, io.config), credentials, options.topic, io.warn);
    return async () => ({ publish: (records) => publisher.publish(records), takesAnything: false });
  }
  const { PAYMENT_TOPICS: topics } = running.config;
  const to = options.topic ?? topics[0];
  // Nobody would read it.
  if (!topics.includes(to)) throw new CommandFailed(`--topic must be one of PAYMENT_TOPICS: ${topics.join(', ')}`);
  return async () => {
    const { broker } = await running.open();
    return { publish: (records) => broker.publish(to, records), takesAnything: true };
  };
}

/** An invalid line is reported and, where the target takes it, published all the same; with --check nothing is. */
async function publishLines(running: Publishing): Promise<void> {
  const { io, options } = running;
  const openTarget = targetOf(running);
  const catalogue = options.check ? loadCatalogue(running.config.EVENT_SCHEMAS) : null;
  const judged = judgedLines(numberedLines(io.stdin), catalogue, io.warn);
  // Stdin can't be read twice.
  const lines = options.check ? await all(judged) : judged;
  const wrong = Array.isArray(lines) ? lines.filter(({ isEvent }) => !isEvent).length : 0;
  if (wrong > 0 && running.json) await running.print({ published: 0 });
  if (wrong > 0) return running.wrong(`nothing was published: ${linesText(wrong)}`);
  const { published, left } = await publishAll(await openTarget(), lines);
  await running.print({ published }, `published ${published} ${published === 1 ? 'event' : 'events'}`);
  if (left > 0) running.wrong(`not everything was published: ${linesText(left)}`);
}

interface JudgedLine {
  readonly bytes: Buffer;
  readonly isEvent: boolean;
  readonly key: Buffer | null;
}

/** Says of each line that is no payment event why. @param catalogue checks the data too; null: not */
async function* judgedLines(
  lines: AsyncIterable<NumberedLine>,
  catalogue: EventCatalogue | null,
  warn: CommandIo['warn'],
): AsyncIterable<JudgedLine> {
  for await (const { number, bytes } of lines) {
    const parsed = parsePaymentEvent({ value: bytes, headers: [] });
    const reason = parsed.ok ? catalogue && dataProblem(parsed.event, bytes, catalogue) : parsed.reason;
    if (reason !== null) await warn(`line ${number} is not a payment event: ${reason}`);
    const key = parsed.ok ? Buffer.from(String(parsed.event.accountId)) : keyOf(bytes);
    yield { bytes, isEvent: reason === null, key };
  }
}

const MEBIBYTE = 1024 ** 2;
/** More than any broker's record limit. A stream without line ends must not fill the memory. */
const MAX_LINE_MIB = 16;

/** In constant memory. @throws CommandFailed if a line is longer than any record */
export async function* numberedLines(input: AsyncIterable<Buffer>): AsyncIterable<NumberedLine> {
  const rest: Buffer[] = [];
  let restBytes = 0;
  let number = 1;
  for await (const chunk of input) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      number = yield* linesOf(Buffer.concat([...rest.splice(0), chunk.subarray(0, end)]), number);
      restBytes = 0;
    }
    rest.push(Buffer.from(chunk.subarray(end)));
    restBytes += chunk.length - end;
    if (restBytes > MAX_LINE_MIB * MEBIBYTE) {
      throw new CommandFailed(`line ${number} has more than ${MAX_LINE_MIB} MiB; the lines before it were read`);
    }
  }
  yield* linesOf(Buffer.concat(rest), number);
}

async function all(lines: AsyncIterable<JudgedLine>): Promise<JudgedLine[]> {
  const found: JudgedLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

function linesText(wrong: number): string {
  return `${wrong} ${wrong === 1 ? 'line is not a payment event' : 'lines are not payment events'}`;
}

/** By the operator's schema of the type. Binary data of a CloudEvent is not checked. */
function dataProblem({ type }: PaymentEvent, bytes: Buffer, catalogue: EventCatalogue): string | null {
  const json = JSON.parse(bytes.toString('utf8')) as { readonly data?: unknown; readonly data_base64?: unknown };
  return (json.data_base64 ?? null) === null ? (catalogue.get(type)?.problem(json.data) ?? null) : null;
}

interface Counts {
  readonly published: number;
  /** Invalid lines that the target does not take. */
  readonly left: number;
}

async function publishAll(
  { publish, takesAnything }: Target,
  lines: AsyncIterable<JudgedLine> | readonly JudgedLine[],
): Promise<Counts> {
  let [published, left, bytes] = [0, 0, 0];
  let batch: NewRecord[] = [];
  const flush = async () => {
    if (batch.length > 0) await publish(batch);
    published += batch.length;
    [batch, bytes] = [[], 0];
    if (process.stderr.isTTY) process.stderr.write(`\r${published} published`);
  };
  try {
    for await (const { isEvent, key, bytes: value } of lines) {
      if (!isEvent && !takesAnything) {
        left += 1;
        continue;
      }
      batch.push({ key, value, headers: [] });
      bytes += value.length;
      if (batch.length === BATCH || bytes >= BATCH_BYTES) await flush();
    }
    await flush();
    return { published, left };
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }
}

/** The account of an invalid line, if it names one: the line keeps its place among the account's events. */
function keyOf(line: Buffer): Buffer | null {
  try {
    const accountId: unknown = JSON.parse(line.toString('utf8'))?.accountId;
    return typeof accountId === 'number' || typeof accountId === 'string' ? Buffer.from(String(accountId)) : null;
  } catch {
    return null;
  }
}
