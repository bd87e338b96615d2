import { rowsWhere } from "../projection/rows.ts";
import { issuerOf } from "../authz/host.ts";
import { failedPrecondition, invalidArgument } from "../errors.ts";
import {
  instanceFacts,
  instanceReader,
  instances,
  primaryDomainReader,
} from "../resources/instance/index.ts";
import { memberships } from "../resources/membership/index.ts";
import { organization } from "../resources/org/index.ts";
import {
  addRecoveryLink,
  loginNameReader,
  tellNews,
  user,
  usernameReader,
  userNotFound,
} from "../resources/user/index.ts";
import { policiesOf } from "./policies.ts";
import { loginSettingsReader } from "../settings/policy/login.ts";
import type { Kernel } from "./kernel.ts";
import { recoverPath } from "./login.ts";
import { instanceMissing } from "../authz/tenancy.ts";

export type RecoveryLink = {
  instanceId: string;
  userId: string;
  link: string;
  expiresAt: Date;
};

type Store = Pick<Kernel, "config" | "db" | "events" | "secrets" | "newId">;

const mostNamed = 20;
const owner = "IAM_OWNER";

/**
 * Makes a way back into an account, for whoever has the machine (J21), and has the owners of the instance told.
 * `domain` names the instance; it may be left out where there is only one.
 */
export async function makeRecoveryLink(
  store: Store,
  { loginName, domain }: { loginName: string; domain: string | undefined },
): Promise<RecoveryLink> {
  const { config, db, events, newId } = store;
  const instanceId = await instanceOf(store, domain);
  const userId = await userOf(store, instanceId, loginName);
  if (userId === undefined) {
    throw userNotFound(`nobody has the login name ${loginName} in the instance`);
  }
  const by = { instanceId, editorId: "system:cli", service: "cli", clientId: "", requestId: "" };
  const owners = await ownersOf(store, instanceId);
  const policyOf = loginSettingsReader(db);
  const policies = policiesOf(db);
  const { code, expiresAt } = await events.transact(by, async (tx) => {
    const made = await addRecoveryLink({ ...store, policies }, tx, { instanceId, userId });
    const { state } = await tx.load(user, userId);
    const organizationId = state?.organizationId ?? "";
    if ((await tx.load(organization, organizationId)).state?.state !== "active") {
      const text = "the organization of the user is not active: nobody of it can log in";
      throw failedPrecondition("ORG_NOT_ACTIVE", text);
    }
    if (!(await policyOf(instanceId, organizationId)).allowUsernamePassword) {
      throw failedPrecondition(
        "PASSWORD_LOGIN_OFF",
        "the login settings of the organization take no passwords (allow_username_password), and the link would set one",
      );
    }
    const about = { news: "recovery.link", accountId: userId } as const;
    for (const id of owners) tellNews(tx, newId, { instanceId, userId: id }, about);
    return made;
  });
  const issuer = issuerOf(new URL(config.externalUrl), await primaryDomainReader(db)(instanceId));
  return { instanceId, userId, link: `${issuer}${recoverPath({ userId, code })}`, expiresAt };
}

/** Who has the login name; in the default organization the username alone is enough, as on the pages of the login. */
async function userOf(
  { db }: Store,
  instanceId: string,
  name: string,
): Promise<string | undefined> {
  const byLoginName = loginNameReader({ db });
  const { defaultOrganizationId } = await instanceFacts(db)(instanceId);
  return (
    (await byLoginName(instanceId, name)) ??
    usernameReader(db)(instanceId, defaultOrganizationId, name)
  );
}

/** @throws NOT_FOUND INSTANCE_NOT_FOUND, INVALID_ARGUMENT INSTANCE_NEEDED */
async function instanceOf({ db }: Store, domain: string | undefined): Promise<string> {
  if (domain !== undefined) {
    const found = await instanceReader(db).byDomain(domain.toLowerCase());
    if (found !== undefined) return found.id;
    throw instanceMissing(`no instance has the domain ${domain}`);
  }
  const t = db.table(instances);
  const rows = await db.read.select({ id: t.id }).from(t).limit(mostNamed);
  const [only] = rows;
  if (only === undefined) throw instanceMissing("the store holds no instance yet");
  if (rows.length === 1) return only.id;
  const domains = await Promise.all(rows.map(({ id }) => primaryDomainReader(db)(id)));
  throw invalidArgument(
    "INSTANCE_NEEDED",
    `there are several instances: name one by --instance, such as ${domains.sort().join(", ")}`,
  );
}

async function ownersOf({ db }: Store, instanceId: string): Promise<string[]> {
  const rows = await rowsWhere(db, memberships, { instanceId, contextType: "instance" });
  const owners = rows.filter(({ roles, isAccepted }) => isAccepted && roles.includes(owner));
  return [...new Set(owners.map(({ userId }) => userId))];
}
