import { generate } from 'selfsigned';

/** PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

let authority: Promise<Certificate> | undefined;
const issued = new Map<string, Promise<Certificate>>();

/** The certificate authority of this test process; its cert is what clients are to trust. */
export function testAuthority(): Promise<Certificate> {
  authority ??= create('Test CA', {
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return authority;
}

/** A certificate of that authority for a server, or a client, with these names and IPv4 addresses. */
export function certificateFor(names: readonly string[] = ['localhost', '127.0.0.1']): Promise<Certificate> {
  const known = issued.get(names.join());
  const certificate = known ?? issue(names);
  issued.set(names.join(), certificate);
  return certificate;
}

async function issue(names: readonly string[]): Promise<Certificate> {
  const ca = await testAuthority();
  return create(names[0] ?? 'nobody', {
    ca,
    extensions: [
      { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map((name) => (/^[\d.]+$/.test(name) ? { type: 7, ip: name } : { type: 2, value: name })),
      },
    ],
  });
}

/** Before now: services whose clock is set back take them too. */
const VALID_SINCE_MS = 2 * 86_400_000;

async function create(commonName: string, options: Parameters<typeof generate>[1]): Promise<Certificate> {
  const pem = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - VALID_SINCE_MS),
    ...options,
  });
  return { cert: pem.cert, key: pem.private };
}
