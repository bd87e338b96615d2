import { randomBytes } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostName, issuerOf } from "../authz/host.ts";
import type { OwnerRef } from "../eventstore/event.ts";
import type { Transaction } from "../eventstore/transaction.ts";
import { addInstance, instance, instanceEvents, hasInstance } from "../resources/instance/index.ts";
import { addMember, membership } from "../resources/membership/index.ts";
import { addOrganization, generatedDomain, organization } from "../resources/org/index.ts";
import { addProject, project } from "../resources/project/index.ts";
import {
  addPersonalAccessToken,
  addUser,
  builtInData,
  changeContact,
  changePassword,
  passwordSecret,
  personalAccessTokenSecret,
  user,
} from "../resources/user/index.ts";
import type { Kernel } from "./kernel.ts";

/** What the first start made; the only place where its secrets stand in clear (decisions H1). */
export type Bootstrap = {
  issuer: string;
  instance_id: string;
  organization_id: string;
  project_id: string;
  admin: { user_id: string; login_name: string; password: string };
  machine: { user_id: string; login_name: string; token: string };
};

const adminName = "admin";
const machineName = "machine";
const loginClientName = "login-client";

/**
 * Makes the first instance of an empty store: organization, the service's own project, administrator, a machine user
 * with a token, and the login client. One unit: all of it or nothing. Undefined when the store holds an instance.
 */
export async function bootstrap(kernel: Kernel): Promise<Bootstrap | undefined> {
  const { config, db, events, newId } = kernel;
  if (await hasInstance(db)) return undefined;
  const externalUrl = new URL(config.externalUrl);
  const host = hostName(externalUrl.host);
  const domains = host === "localhost" ? [host, "127.0.0.1", "[::1]"] : [host];
  const organizationDomain = generatedDomain(config.bootstrapOrganization, host);
  const ids = { instance: newId(), organization: newId(), project: newId() };
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
  const by = {
    instanceId: ids.instance,
    editorId: "bootstrap",
    service: "bootstrap",
    clientId: "",
    requestId: "bootstrap",
  };
  await events
    .transact(by, async (tx) => {
      const ofInstance: OwnerRef = { type: "instance", id: ids.instance };
      const ofOrganization: OwnerRef = { type: "org", id: ids.organization };
      tx.write(...kernel.secrets.createInstanceKeys(ids.instance, tx.now));

      const theInstance = tx.begin(instance, ids.instance);
      const named = { name: config.bootstrapOrganization, domains, defaultLanguage: "en" };
      tx.record(instance, theInstance, addInstance(theInstance.state, named), ofInstance);
      tx.record(instance, theInstance, [
        instanceEvents["default.org.set"]({ organizationId: ids.organization }),
        instanceEvents["iam.project.set"]({ projectId: ids.project }),
      ]);

      const theOrganization = tx.begin(organization, ids.organization);
      const called = { name: config.bootstrapOrganization, domain: organizationDomain };
      tx.record(
        organization,
        theOrganization,
        addOrganization(theOrganization.state, called),
        ofInstance,
      );
      const ownProject = tx.begin(project, ids.project);
      const itself = {
        name: "idsvc",
        roleAssertion: false,
        authorizationRequired: false,
        projectAccessRequired: false,
      };
      tx.record(project, ownProject, addProject(ownProject.state, itself), ofOrganization);

      await makeAdmin(kernel, tx, made, ofOrganization);
      await makeMachine(kernel, tx, made, ofOrganization);
      await makeLoginClient(kernel, tx, made, ofOrganization);
      // Written before the commit and named after it: nobody gets an instance whose password he cannot know, and of
      // two first starts at once each keeps its hands off the other's file.
      writeDraft(config.dataDir, made);
    })
    .catch((error: unknown) => {
      rmSync(draftIn(config.dataDir, made), { force: true });
      throw error;
    });
  renameSync(draftIn(config.dataDir, made), fileIn(config.dataDir));
  return made;
}

const fileIn = (dataDir: string): string => join(dataDir, "bootstrap.json");

const draftIn = (dataDir: string, { instance_id }: Bootstrap): string =>
  `${fileIn(dataDir)}.${instance_id}`;

function writeDraft(dataDir: string, made: Bootstrap): void {
  const text = `${JSON.stringify(made, null, 2)}\n`;
  writeFileSync(draftIn(dataDir, made), text, { mode: 0o600, flush: true });
}

async function makeAdmin(
  { secrets }: Kernel,
  tx: Transaction,
  { instance_id: instanceId, organization_id: organizationId, admin }: Bootstrap,
  owner: OwnerRef,
): Promise<void> {
  const loaded = tx.begin(user, admin.user_id);
  const data = builtInData("human", {
    given_name: "Instance",
    family_name: "Administrator",
    display_name: "Instance Administrator",
    preferred_language: "en",
  });
  const called = { organizationId, username: adminName };
  tx.record(user, loaded, addUser(loaded, { ...data, ...called }), owner);
  const email = { address: admin.login_name, isVerified: true };
  tx.record(user, loaded, changeContact(loaded.state, "email", email));
  tx.record(user, loaded, changePassword(loaded.state, false));
  const at = { instanceId, userId: admin.user_id };
  tx.write(await passwordSecret(secrets, at, admin.password, tx.now));
}

async function makeMachine(
  kernel: Kernel,
  tx: Transaction,
  made: Bootstrap,
  owner: OwnerRef,
): Promise<void> {
  const { instance_id: instanceId, organization_id: organizationId, machine } = made;
  const loaded = tx.begin(user, machine.user_id);
  const data = builtInData("machine", { name: "Machine user" });
  const called = { organizationId, username: machineName };
  tx.record(user, loaded, addUser(loaded, { ...data, ...called }), owner);
  const tokenId = kernel.newId();
  tx.record(user, loaded, addPersonalAccessToken(loaded.state, tokenId));
  const value = kernel.config.bootstrapToken;
  const { token, change } = await personalAccessTokenSecret(
    kernel.secrets,
    { instanceId, userId: machine.user_id },
    { id: tokenId, createdAt: tx.now, ...(value === undefined ? {} : { value }) },
  );
  tx.write(change);
  machine.token = token;
  await makeMember(kernel, tx, made, machine.user_id, "IAM_OWNER");
  await makeMember(kernel, tx, made, made.admin.user_id, "IAM_OWNER");
}

async function makeLoginClient(
  kernel: Kernel,
  tx: Transaction,
  made: Bootstrap,
  owner: OwnerRef,
): Promise<void> {
  const loaded = tx.begin(user, kernel.newId());
  const data = builtInData("machine", { name: "Login client" });
  const called = { organizationId: made.organization_id, username: loginClientName };
  tx.record(user, loaded, addUser(loaded, { ...data, ...called }), owner);
  await makeMember(kernel, tx, made, loaded.id, "IAM_LOGIN_CLIENT");
}

async function makeMember(
  { newId }: Kernel,
  tx: Transaction,
  made: Bootstrap,
  userId: string,
  role: string,
): Promise<void> {
  const loaded = tx.begin(membership, newId());
  const context = { type: "instance" as const };
  const added = addMember(loaded.state, { userId, roles: [role], context });
  tx.record(membership, loaded, added, { type: "instance", id: made.instance_id });
}
