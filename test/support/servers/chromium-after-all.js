export default async function tearDown() {
  await globalThis.chromiumForAll?.close();
}
