/** PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

interface Made {
  readonly authority: Certificate;
  /** By their names, joined by commas. */
  readonly issued: Readonly<Record<string, Certificate>>;
}

/** Made by certificates-for-all.js; a benchmark has none. */
const made = JSON.parse(process.env.TEST_CERTIFICATES ?? 'null') as Made | null;

let authority: Promise<Certificate> | null = made && Promise.resolve(made.authority);
const issued = new Map(
  Object.entries(made?.issued ?? {}).map(([names, certificate]) => [names, Promise.resolve(certificate)]),
);

/** The certificate authority of this run, for clients to trust. */
export function testAuthority(): Promise<Certificate> {
  authority ??= maker().then(({ makeAuthority }) => makeAuthority('Test CA'));
  return authority;
}

/** A certificate of that authority for a server or a client with these names and IPv4 addresses. */
export function certificateFor(names: readonly string[] = ['localhost', '127.0.0.1']): Promise<Certificate> {
  const known = issued.get(names.join());
  const certificate = known ?? issue(names);
  issued.set(names.join(), certificate);
  return certificate;
}

/** Another CA, signed by `ca` or by itself, and a certificate of it for localhost. */
export async function newAuthority(ca?: Certificate): Promise<{ authority: Certificate; server: Certificate }> {
  const { makeAuthority, makeCertificate } = await maker();
  const authority = await makeAuthority('Another test CA', ca);
  return { authority, server: await makeCertificate(authority, ['localhost']) };
}

async function issue(names: readonly string[]): Promise<Certificate> {
  const [ca, { makeCertificate }] = await Promise.all([testAuthority(), maker()]);
  return makeCertificate(ca, names);
}

/** Loaded on demand: it takes 0.15 s of CPU time. */
function maker(): Promise<typeof import('./certificate-maker.js')> {
  return import('./certificate-maker.js');
}
