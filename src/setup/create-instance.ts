import { isLoopback } from "../authz/host.ts";
import type { MakeMember, NewMember } from "../authz/ports.ts";
import type { OwnerRef } from "../eventstore/event.ts";
import type { Transaction, Written } from "../eventstore/transaction.ts";
import type { Begin, Deps } from "../projection/module.ts";
import { addOrganization, generatedDomain, organization } from "../resources/org/index.ts";
import { projects } from "../resources/project/index.ts";
import {
  addPersonalAccessToken,
  addUser,
  builtInData,
  changeContact,
  changePassword,
  passwordSecret,
  personalAccessTokenSecret,
  storedMailAddress,
  user,
  userEvents,
} from "../resources/user/index.ts";
import { addInstance, instance, instanceEvents } from "../resources/instance/index.ts";

type Parts = Pick<Deps, "newId" | "secrets"> & { makeMember: MakeMember };

/** The ids of what every instance has from its first moment. */
export type InstanceIds = { instance: string; organization: string; project: string };

export const newInstanceIds = (newId: () => string): InstanceIds => ({
  instance: newId(),
  organization: newId(),
  project: newId(),
});

/** The domain that the first organization gets: login names of its users end in it. */
export const firstDomain = (organizationName: string, [domain = ""]: string[]): string =>
  generatedDomain(organizationName, domain);

/**
 * Makes an instance that can be used: its keys, its default organization, the service's own project, and the machine
 * user of the login. One unit, with the owners that are added after it: all of it or nothing.
 *
 * @param wanted.begins what the slices set in it, in their order
 */
export async function createInstance(
  { newId, secrets, makeMember }: Parts,
  tx: Transaction,
  ids: InstanceIds,
  wanted: {
    name: string;
    domains: string[];
    defaultLanguage: string;
    organizationName: string;
    begins: readonly Begin[];
  },
): Promise<() => Written> {
  const { name, domains, defaultLanguage, organizationName, begins } = wanted;
  const ofSystem: OwnerRef = { type: "system", id: "" };
  const ofInstance: OwnerRef = { type: "instance", id: ids.instance };
  const ofOrganization: OwnerRef = { type: "org", id: ids.organization };
  tx.write(...secrets.createInstanceKeys(ids.instance, tx.now));

  const made = tx.begin(instance, ids.instance);
  const owned = domains.map((domain) => ({ domain, domainId: newId() }));
  const added = addInstance(made.state, { name, domains: owned, defaultLanguage });
  tx.record(instance, made, added, ofSystem);
  tx.record(instance, made, [
    instanceEvents["default.org.set"]({ organizationId: ids.organization }),
    instanceEvents["iam.project.set"]({ projectId: ids.project }),
  ]);

  const isLocal = domains.every(isLoopback);
  for (const begin of begins) await begin(tx, { id: ids.instance, defaultLanguage, isLocal });

  const first = tx.begin(organization, ids.organization);
  const called = {
    name: organizationName,
    domain: firstDomain(organizationName, domains),
    domainId: newId(),
  };
  tx.record(organization, first, addOrganization(first.state, called), ofInstance);

  const own = tx.begin(projects.aggregate, ids.project);
  const itself = {
    name: "idsvc",
    roleAssertion: false,
    authorizationRequired: false,
    projectAccessRequired: false,
  };
  tx.record(projects.aggregate, own, projects.add(own.state, itself), ofOrganization);

  const login = tx.begin(user, newId());
  const data = builtInData("machine", { name: "Login client" });
  const client = { ...data, organizationId: ids.organization, username: "login-client" };
  tx.record(user, login, addUser(login, client), ofOrganization);
  makeMember(tx, { userId: login.id, roles: ["IAM_LOGIN_CLIENT"], context: { type: "instance" } });
  return tx.written(made);
}

export type FirstHuman = {
  username: string;
  givenName: string;
  familyName: string;
  displayName?: string;
  email: string;
  password: string | undefined;
};

/**
 * A person who owns the instance. Where others can reach it, they set up a second factor and get recovery codes when they
 * first log in (J21).
 *
 * @param domain of the instance
 */
export async function addHumanOwner(
  { secrets, makeMember }: Parts,
  tx: Transaction,
  ids: InstanceIds,
  domain: string,
  human: FirstHuman & { userId: string },
): Promise<void> {
  const { username, givenName, familyName, displayName, email, password, userId } = human;
  const loaded = tx.begin(user, userId);
  const data = builtInData("human", {
    given_name: givenName,
    family_name: familyName,
    preferred_language: "en",
    ...(displayName === undefined ? {} : { display_name: displayName }),
  });
  const added = addUser(loaded, { ...data, organizationId: ids.organization, username });
  tx.record(user, loaded, added, { type: "org", id: ids.organization });
  const proven = { address: storedMailAddress(email), isVerified: true, proof: "setup" } as const;
  tx.record(user, loaded, changeContact(loaded.state, "email", proven));
  if (!isLoopback(domain)) {
    tx.record(user, loaded, [userEvents["human.mfa.setup.demanded"]({})]);
  }
  if (password !== undefined) {
    tx.record(user, loaded, changePassword(loaded.state, false));
    const at = { instanceId: ids.instance, userId };
    tx.write(await passwordSecret(secrets, at, password, tx.now));
  }
  makeMember(tx, owner(userId));
}

/** A machine that owns the instance, with a personal access token: the given one, or a new one. */
export async function addMachineOwner(
  { newId, secrets, makeMember }: Parts,
  tx: Transaction,
  ids: InstanceIds,
  machine: { userId: string; username: string; name: string; token?: string | undefined },
): Promise<string> {
  const { userId, username, name, token: value } = machine;
  const loaded = tx.begin(user, userId);
  const data = builtInData("machine", { name });
  const added = addUser(loaded, { ...data, organizationId: ids.organization, username });
  tx.record(user, loaded, added, { type: "org", id: ids.organization });
  const tokenId = newId();
  tx.record(user, loaded, addPersonalAccessToken(loaded.state, tokenId));
  const { token, change } = await personalAccessTokenSecret(
    secrets,
    { instanceId: ids.instance, userId },
    { id: tokenId, createdAt: tx.now, ...(value === undefined ? {} : { value }) },
  );
  tx.write(change);
  makeMember(tx, owner(userId));
  return token;
}

const owner = (userId: string): NewMember => ({
  userId,
  roles: ["IAM_OWNER"],
  context: { type: "instance" },
});
