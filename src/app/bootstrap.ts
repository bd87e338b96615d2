import { randomBytes } from "node:crypto";
import { issuerOf } from "../authz/host.ts";
import { hasInstance } from "../resources/instance/index.ts";
import {
  addHumanOwner,
  addMachineOwner,
  createInstance,
  firstDomain,
  newInstanceIds,
  requireFirstPassword,
} from "../setup/index.ts";
import { beginsOf } from "./begin.ts";
import { checkMasterKeys } from "../eventstore/master-keys.ts";
import { ownWork } from "../eventstore/transaction.ts";
import type { Config } from "./config.ts";
import { domainsOfHost, externalHost, followExternalUrl, startedBy } from "./external-url.ts";
import { type Bootstrap, dropDraft, nameDraft, writeDraft } from "./bootstrap-file.ts";
import type { Kernel } from "./kernel.ts";

const adminName = "admin";
const machineName = "machine";

/**
 * Makes the first instance of an empty store: organization, the service's own project, administrator, a machine user
 * with a token, and the login client. One unit: all of it or nothing. Undefined when the store holds an instance,
 * also one that another replica has made at the same time; then the first instance gets the host of the external URL.
 * @throws MASTER_KEY_WRONG when that was made with another key
 */
export async function bootstrap(kernel: Kernel): Promise<Bootstrap | undefined> {
  if (await hasInstance(kernel.db)) return alreadyMade(kernel);
  try {
    return await makeFirstInstance(kernel);
  } catch (error) {
    if (await hasInstance(kernel.db)) return alreadyMade(kernel);
    throw error;
  }
}

/** The store may have been empty when it was opened: only now is there something that the key must open. */
async function alreadyMade(kernel: Kernel): Promise<undefined> {
  await checkMasterKeys(kernel.db, kernel.masterKeys);
  await followExternalUrl(kernel);
}

async function makeFirstInstance(kernel: Kernel): Promise<Bootstrap> {
  const { config, events, newId } = kernel;
  const externalUrl = new URL(config.externalUrl);
  const host = externalHost(config);
  const domains = domainsOfHost(host);
  const name = config.bootstrapOrganization;
  const organizationDomain = firstDomain(name, domains);
  const ids = newInstanceIds(newId);
  const made: Bootstrap = {
    issuer: issuerOf(externalUrl, host),
    instance_id: ids.instance,
    organization_id: ids.organization,
    project_id: ids.project,
    admin: {
      user_id: newId(),
      login_name: `${adminName}@${organizationDomain}`,
      password: config.bootstrapAdminPassword ?? randomBytes(15).toString("base64url"),
    },
    machine: { user_id: newId(), login_name: `${machineName}@${organizationDomain}`, token: "" },
  };
  const admin = {
    username: adminName,
    givenName: "Instance",
    familyName: "Administrator",
    displayName: "Instance Administrator",
    email: made.admin.login_name,
  };
  const { password } = made.admin;
  await requireFirstPassword(host, { ...admin, password }, "IDSVC_BOOTSTRAP_ADMIN_PASSWORD");
  const as = { editorId: startedBy, service: startedBy, requestId: startedBy };
  const by = ownWork({ instanceId: ids.instance, ...as });
  const begins = await beginsOf(kernel);
  let isKept = false;
  await events
    .transact(by, async (tx) => {
      const wanted = { name, domains, defaultLanguage: "en", organizationName: name, begins };
      await createInstance(kernel, tx, ids, wanted);
      await addHumanOwner(kernel, tx, ids, host, {
        ...admin,
        userId: made.admin.user_id,
        password,
      });
      made.machine.token = await addMachineOwner(kernel, tx, ids, {
        userId: made.machine.user_id,
        username: machineName,
        name: "Machine user",
        token: config.bootstrapToken,
      });
      isKept = keep(config, made);
    })
    .catch((error: unknown) => {
      if (isKept) dropDraft(config.dataDir, made);
      throw error;
    });
  if (isKept) nameDraft(config.dataDir, made);
  return made;
}

/**
 * Whether a file holds what was made. It may be missing where both secrets were given by whoever runs the service.
 *
 * @throws FAILED_PRECONDITION BOOTSTRAP_FILE_UNWRITABLE
 */
function keep(
  { dataDir, bootstrapAdminPassword, bootstrapToken }: Config,
  made: Bootstrap,
): boolean {
  try {
    writeDraft(dataDir, made);
    return true;
  } catch (error) {
    if (bootstrapAdminPassword !== undefined && bootstrapToken !== undefined) return false;
    throw error;
  }
}
