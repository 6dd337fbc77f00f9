/** What users may do on the shared Kafka: see secured-listeners.js. */
import kafkajs, { type AclEntry, type Admin } from 'kafkajs';
import { eventually } from '../clocks/eventually.js';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

const OPERATIONS: Readonly<Record<string, number>> = {
  All: AclOperationTypes.ALL,
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Delete: AclOperationTypes.DELETE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
};

export interface Permission {
  readonly user: string;
  readonly kind: 'topic' | 'group';
  /** Of all that begin with it where it ends with `*`. */
  readonly name: string;
  readonly operation: string;
}

/** @param brokers its listener for plain text, by which everything is allowed */
export async function administer<T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** @returns takes it back */
export async function permit(brokers: string, ...permissions: readonly Permission[]) {
  return change(brokers, permissions.map(entryOf));
}

/** Whatever else is permitted. @returns takes it back */
export async function deny(brokers: string, permission: Permission) {
  return change(brokers, [{ ...entryOf(permission), permissionType: AclPermissionTypes.DENY }]);
}

/** Everything with topics and groups of this prefix. */
export const everything = (user: string, prefix: string): Permission[] =>
  (['topic', 'group'] as const).map((kind) => ({ user, kind, name: `${prefix}*`, operation: 'All' }));

async function change(brokers: string, acl: AclEntry[]): Promise<() => Promise<unknown>> {
  await administer(brokers, async (admin) => {
    await admin.createAcls({ acl });
    await eventually(async () => (await inForce(admin, acl)) === acl.length);
  });
  return () =>
    administer(brokers, async (admin) => {
      await admin.deleteAcls({ filters: acl });
      await eventually(async () => (await inForce(admin, acl)) === 0);
    });
}

/** The controller acknowledges a change before the broker applies it. Describing asks the broker. */
async function inForce(admin: Admin, acl: readonly AclEntry[]): Promise<number> {
  const described = await Promise.all(acl.map((entry) => admin.describeAcls(entry)));
  return described.filter(({ resources }) => resources.length > 0).length;
}

function entryOf({ user, kind, name, operation }: Permission): AclEntry {
  const number = OPERATIONS[operation];
  if (number === undefined) throw new Error(`no operation is called ${operation}`);
  return {
    principal: `User:${user}`,
    host: '*',
    permissionType: AclPermissionTypes.ALLOW,
    operation: number,
    resourceType: kind === 'topic' ? AclResourceTypes.TOPIC : AclResourceTypes.GROUP,
    resourceName: name.replace(/\*$/, ''),
    resourcePatternType: name.endsWith('*') ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
  };
}
