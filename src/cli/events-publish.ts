/** events publish: NDJSON payment events from stdin, as a payment system would: to the configured broker, or by HTTP. */
import type { Command } from 'commander';
import { type EventCatalogue, loadCatalogue } from '../delivery/payment/event-catalogue.js';
import type { NumberedLine } from '../delivery/payment/ndjson.js';
import { type PaymentEvent, parsePaymentEvent } from '../delivery/payment/payment-event.js';
import type { NewRecord } from '../ports/broker.js';
import { CommandFailed, type CommandIo, JSON_OPTION, LastingAnswer, withBackbone } from './command-io.js';
import { HttpPublisher } from './http-publisher.js';
import { numberedLines, openSpool } from './numbered-lines.js';
import { serviceUrl } from './service-client.js';
import { type CredentialOptions, clientIdOption, clientSecretOption, givenCredentials } from './token.js';

/** Lines per publication: made durable together, in order. With the longest line of bytes more, it fits a request. */
const BATCH = 500;
const BATCH_BYTES = 512 * 1024;

type Warn = CommandIo['warn'];

interface PublishOptions extends CredentialOptions {
  readonly topic?: string;
  readonly url?: string;
  readonly check?: boolean;
  readonly json?: boolean;
}

export function eventsCommand(program: Command, io: CommandIo): void {
  const events = program.command('events').description('publish payment events');

  const publish = events
    .command('publish')
    .description('publish the payment events on stdin, one per line; ends when all are durable')
    .option('--topic <topic>', 'default: the first of PAYMENT_TOPICS')
    .option(
      '--check',
      'publish nothing and exit with 1 if a line is not a payment event, or its data not as EVENT_SCHEMAS says',
    )
    .option('--url <url>', "publish through the service at this URL, with a publisher's credentials")
    .addOption(clientIdOption())
    .addOption(clientSecretOption('of the publisher, with --url'))
    .option(...JSON_OPTION);
  publish.action((options: PublishOptions) => publishLines(targetOf(options, publish, io), options, io));
}

type WithTarget = (work: (target: Target) => Promise<Counts>) => Promise<Counts>;

interface Target {
  readonly publish: (records: readonly NewRecord[]) => Promise<unknown>;
  /** The topic takes any bytes, and the dispatcher decides; the service takes payment events only. */
  readonly takesAnything: boolean;
}

/** Reports wrong settings before stdin is read, which may take long. */
function targetOf({ topic, url, ...options }: PublishOptions, command: Command, io: CommandIo): WithTarget {
  if (url !== undefined) {
    const credentials = givenCredentials(options, command);
    const publisher = new HttpPublisher(serviceUrl(url, io.config), credentials, topic, io.warn);
    return (work) => work({ publish: (records) => publisher.publish(records), takesAnything: false });
  }
  const config = io.config();
  const to = topic ?? config.paymentTopics[0];
  // Nobody would read it.
  if (!config.paymentTopics.includes(to)) {
    throw new CommandFailed(`--topic must be one of PAYMENT_TOPICS: ${config.paymentTopics.join(', ')}`);
  }
  return (work) =>
    withBackbone(config, ({ broker }) =>
      work({ publish: (records) => broker.publish(to, records), takesAnything: true }),
    );
}

/**
 * One pass: an invalid line is reported and, where the target takes it, published all the same. With --check there is a pass
 * before it, which leaves stdin in a temporary file: it can't be read twice and may exceed the memory.
 */
async function publishLines(withTarget: WithTarget, { check, json }: PublishOptions, io: CommandIo): Promise<void> {
  if (!check)
    return ended(io, json, await withTarget((target) => publishAll(target, numberedLines(io.stdin), io.warn)));
  const spool = await openSpool(io.stdin);
  try {
    const catalogue = loadCatalogue(io.config().eventSchemas);
    const wrong = await countWrong(numberedLines(spool.first()), catalogue, io.warn);
    if (wrong > 0) return await nothing(io, json, wrong);
    const quiet = async () => undefined;
    await ended(io, json, await withTarget((target) => publishAll(target, numberedLines(spool.again()), quiet)));
  } finally {
    await spool.close();
  }
}

async function nothing(io: CommandIo, json: boolean | undefined, wrong: number): Promise<void> {
  const answer = new LastingAnswer(io);
  if (json) await answer.print(JSON.stringify({ published: 0 }));
  answer.end(new CommandFailed(`nothing was published: ${linesText(wrong)}`));
}

async function ended(io: CommandIo, json: boolean | undefined, { published, left }: Counts): Promise<void> {
  const answer = new LastingAnswer(io);
  await answer.print(
    json ? JSON.stringify({ published }) : `published ${published} ${published === 1 ? 'event' : 'events'}`,
  );
  answer.end(left > 0 ? new CommandFailed(`not everything was published: ${linesText(left)}`) : null);
}

function linesText(wrong: number): string {
  return `${wrong} ${wrong === 1 ? 'line is not a payment event' : 'lines are not payment events'}`;
}

async function countWrong(lines: AsyncIterable<NumberedLine>, catalogue: EventCatalogue, warn: Warn): Promise<number> {
  let wrong = 0;
  for await (const line of lines) {
    const parsed = parsePaymentEvent({ value: line.bytes, headers: [] });
    const reason = parsed.ok ? dataProblem(parsed.event, line.bytes, catalogue) : parsed.reason;
    if (reason === null) continue;
    wrong += 1;
    await warn(problemOf(line, reason));
  }
  return wrong;
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
  lines: AsyncIterable<NumberedLine>,
  warn: Warn,
): Promise<Counts> {
  let [published, left, bytes] = [0, 0, 0];
  let batch: NewRecord[] = [];
  const flush = async () => {
    if (batch.length > 0) await publish(batch);
    published += batch.length;
    [batch, bytes] = [[], 0];
    if (process.stderr.isTTY) process.stderr.write(`${published} published\r`);
  };
  try {
    for await (const line of lines) {
      const parsed = parsePaymentEvent({ value: line.bytes, headers: [] });
      if (!parsed.ok) await warn(problemOf(line, parsed.reason));
      if (!parsed.ok && !takesAnything) {
        left += 1;
        continue;
      }
      const key = parsed.ok ? Buffer.from(String(parsed.event.accountId)) : keyOf(line.bytes);
      batch.push({ key, value: line.bytes, headers: [] });
      bytes += line.bytes.length;
      if (batch.length === BATCH || bytes >= BATCH_BYTES) await flush();
    }
    await flush();
    return { published, left };
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }
}

function problemOf({ number }: NumberedLine, reason: string): string {
  return `line ${number} is not a payment event: ${reason}`;
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
