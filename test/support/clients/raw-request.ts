/** HTTP/1.1 by hand, for requests that fetch would refuse or correct. */
import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends the bytes unchanged, returns the first complete response, and closes the connection. */
export async function rawRequest(port: number, ...parts: readonly (string | Buffer)[]): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined); // an unread rest of a request may end in a reset
  try {
    await once(socket, 'connect');
    socket.write(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
    let received = '';
    for await (const chunk of socket.setEncoding('utf8') as AsyncIterable<string>) {
      received += chunk;
      const answer = parsed(received);
      if (answer) return answer;
    }
    throw new Error(`the connection ended after: ${received}`);
  } finally {
    socket.destroy();
  }
}

/** A request head from its lines. */
export function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\nHost: 127.0.0.1\r\n\r\n`;
}

function parsed(received: string): RawAnswer | null {
  const [top, ...rest] = received.split('\r\n\r\n');
  if (top === undefined || rest.length === 0) return null;
  const [statusLine = '', ...lines] = top.split('\r\n');
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), fieldValue(line)]));
  const body = rest.join('\r\n\r\n');
  if (Buffer.byteLength(body) < Number(headers.get('content-length') ?? 0)) return null;
  return { status: Number(statusLine.split(' ')[1]), headers, body };
}

function fieldValue(line: string): string {
  return line.slice(line.indexOf(':') + 1).trim();
}
