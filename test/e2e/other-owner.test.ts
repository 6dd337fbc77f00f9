/** Files of DATA_DIR that belong to another user: the start, commands and doctor name the owner and their own user. */
import { chmodSync, chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readExamined } from '../support/examined.js';
import { run, type Settings } from '../support/service.js';
import { installation, register } from '../support/story.js';

const SERVICE = 64_001;
const OTHER = 64_002;

const isRoot = process.getuid?.() === 0;
/** A user other than root. */
const uid = isRoot ? { uid: SERVICE } : {};

test('where DATA_DIR can not be made in a folder of root, start and doctor name both users', async () => {
  const settings = { DATA_DIR: '/usr/account-webhooks', PORT: '0', ADMIN_PORT: '0' };
  const owner = /usr belongs to uid 0, group 0 .*; this process runs as uid [1-9]/;
  const { code, stderr } = await run(settings, ['serve'], '', uid);
  expect([code, stderr]).toEqual([1, expect.stringMatching(owner)]);
  const { of } = readExamined(await run(settings, ['doctor', '--json'], '', uid));
  expect(of('DATA_DIR')[0]).toMatch(owner);
});

// Only root may give files away.
if (isRoot) filesOfAnotherUser();
else process.stderr.write('\nFILES OF ANOTHER USER ARE NOT TESTED, ONLY A FOLDER: RUN THE TESTS AS ROOT\n');

function filesOfAnotherUser(): void {
  let settings: Settings;
  let dataDir: string;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    const installed = await installation([]);
    ({ remove } = installed);
    // It names files that the service's user can't read.
    const { DELIVERY_CA_FILE: _, ...others } = installed.settings as Record<string, string>;
    settings = { ...others, PORT: '0', ADMIN_PORT: '0' };
    dataDir = String(settings.DATA_DIR);
    await register(settings, 42);
    chmodSync(join(dataDir, '..'), 0o755);
    for (const name of ['', ...readdirSync(dataDir)]) give(name, SERVICE);
  });
  afterEach(() => remove());

  const give = (name: string, uid: number) => chownSync(join(dataDir, name), uid, uid);
  const asService = (args: readonly string[]) => run({ ...settings, HTTPS_PROXY: '' }, args, '', { uid: SERVICE });

  test.each([
    ['', 'data'],
    ['store.sqlite', 'store.sqlite'],
    ['master.key', 'master.key'],
  ])('where DATA_DIR/%s belongs to somebody else, start, command and doctor name both users', async (name, shown) => {
    give(name, OTHER);
    const owner = `${shown} belongs to uid ${OTHER}, group ${OTHER} (mode 0${name ? '600' : '700'}); this process runs as uid ${SERVICE}`;
    for (const args of [['serve'], ['accounts', 'register', '43']]) {
      const { code, stderr } = await asService(args);
      expect(code).toBe(1);
      expect(stderr).toContain(`account-webhooks: DATA_DIR can't be used (${owner}`);
    }
    const { code, troubles } = readExamined(await asService(['doctor', '--json']));
    expect(code).toBe(1);
    expect(troubles).toContainEqual(
      expect.stringMatching(new RegExp(`^FAIL DATA_DIR: .*${owner.replace(/[()]/g, '.')}`)),
    );
    expect(troubles.join()).not.toMatch(/SQLITE_|EACCES|UNKNOWN/);
  });

  test('doctor names a folder that its owner can not write to', async () => {
    chmodSync(dataDir, 0o555);
    const { code, of } = readExamined(await asService(['doctor', '--json']));
    expect([code, of('DATA_DIR')[0]]).toEqual([
      1,
      expect.stringMatching(/^FAIL not writable: data belongs to uid 64001, /),
    ]);
  });

  test('doctor names files that the service still reaches by its group', async () => {
    give('store.sqlite', OTHER);
    chownSync(join(dataDir, 'store.sqlite'), OTHER, 0);
    chmodSync(join(dataDir, 'store.sqlite'), 0o660);
    const { code, troubles } = readExamined(await asService(['doctor', '--json']));
    expect({ code, troubles }).toEqual({
      code: 0,
      troubles: [
        expect.stringMatching(`^warn DATA_DIR: store.sqlite belongs to uid ${OTHER}, group 0 `),
        'warn store.sqlite: its group can read or write it (mode 0660)',
      ],
    });
  });
}
