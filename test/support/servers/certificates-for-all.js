/** Before all tests: the certificates that nearly every file asks for. Making them took each file 0.2 s of the processor. */
import { makeAuthority, makeCertificate } from './certificate-maker.js';

const NAMES = ['localhost', '127.0.0.1'];

export default async function setUp() {
  if (process.env.TEST_CERTIFICATES) return;
  const authority = await makeAuthority('Test CA');
  const issued = { [NAMES.join()]: await makeCertificate(authority, NAMES) };
  process.env.TEST_CERTIFICATES = JSON.stringify({ authority, issued });
}
