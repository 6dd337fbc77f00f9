/** Checks the CA file of a connection string before the client does: the client reports a bad file as a bad string. */
import { readFileSync } from 'node:fs';
import { certificatesIn } from '../../host/pem-certificates.js';

const OPTION = /[?&]([^=&?]+)=([^&?]+)/g;
const NAMES_A_FILE = 'tlsCaFile in EVENT_STORE_URL names a file';

export class CaFileUnusable extends Error {
  override readonly name = 'CaFileUnusable';
  readonly code = 'CA_FILE_UNUSABLE';
}

/** @throws CaFileUnusable with the system's code; URIError if the option is badly encoded */
export function checkCaFile(url: string): void {
  const options = new Map([...url.matchAll(OPTION)].map(([, key = '', value = '']) => [plain(key), value.trim()]));
  const path = options.get('tlscafile');
  // Without TLS the client ignores it.
  if (path === undefined || options.get('tls') === 'false') return;
  const pem = attempt("can't be read", () => readFileSync(decodeURIComponent(path), 'utf8'));
  const certificates = attempt('has a damaged certificate', () => certificatesIn(pem));
  if (certificates.length === 0) throw new CaFileUnusable(`${NAMES_A_FILE} that holds no certificate in PEM`);
}

/** Compares option names as the client does. */
function plain(key: string): string {
  return key.trim().toLowerCase().replace(/[_-]/g, '');
}

function attempt<T>(failure: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof URIError) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new CaFileUnusable(`${NAMES_A_FILE} that ${failure} (${code})`, { cause: error });
  }
}
