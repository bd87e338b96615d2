import type { LoggedEvent } from "../../../src/eventstore/eventstore.ts";
import { createLoginUsers } from "../../../src/login/users.ts";
import { canLogInUntil, ownersByInstance } from "../../../src/resources/membership/owners.ts";
import { user } from "../../../src/resources/user/index.ts";
import { loginSettingsReader } from "../../../src/settings/policy/login.ts";
import { homeOfProject, projectGrantsIn, userGrantsIn } from "./facts.ts";
import type { World } from "./world.ts";

type Step = {
  isOthers: boolean;
  /** Tokens that the attacker learned in it. */
  fresh: readonly string[];
};

/** What must hold besides, whoever did what: each as the ruling that it is of, and what broke it. */
export async function invariantsBroken(
  world: World,
  events: readonly LoggedEvent[],
  step: Step,
): Promise<string[]> {
  const broken = [
    ...(await ownerLeft(world, events)),
    ...idsTaken(world, events),
    ...(step.isOthers ? [] : await marksGiven(world, events)),
    ...(await namesLead(world, events)),
    ...(await floorsHold(world, events)),
    ...cookieStands(world, events),
  ];
  for (const token of step.fresh) broken.push(...(await audienceOf(world, token)));
  return broken;
}

const any = (events: readonly LoggedEvent[], pattern: RegExp): boolean =>
  events.some(({ type }) => pattern.test(type));

/** An owner is there, who can log in (J3). */
async function ownerLeft(
  { service, instanceId }: World,
  events: readonly LoggedEvent[],
): Promise<string[]> {
  if (
    !any(events, /member|^user\.(?:removed|deactivated|locked|pat|human\.)|^org\.(?:deact|removed)/)
  ) {
    return [];
  }
  const owners = (await ownersByInstance(service.deps.db)).get(instanceId) ?? [];
  for (const id of owners) {
    const until = await canLogInUntil(service.deps.events, instanceId, id);
    if (until > service.now().getTime()) return [];
  }
  return ["J3: no owner is left"];
}

const reserved = /^(?:0|system|anonymous|bootstrap|idsvc)(?::|$)/i;

/** Nobody is called what the service calls itself, nor like something else of the instance (J7). */
function idsTaken({ book }: World, events: readonly LoggedEvent[]): string[] {
  const ids = events.flatMap(({ type, aggregateId, payload }) => {
    if (/^user\.(?:human|machine)\.added$/.test(type)) return [aggregateId];
    if (type !== "user.machine.secret.set") return [];
    const { clientId } = payload as { clientId?: string };
    return clientId === undefined ? [] : [clientId];
  });
  const others = ["client", "organization", "project", "app"].flatMap((kind) =>
    // Those that the world began with. A client id that a step was told is learned under the name that its text has already.
    book.of(kind).filter((name) => name.startsWith(`${kind} `)),
  );
  return ids
    .filter((id) => reserved.test(id) || others.some((name) => book.textOf(name) === id))
    .map((id) => `J7: somebody is called ${id}`);
}

/** Nobody's address is told as verified by a word that does not reach so far, or that they gave for themselves (J9). */
async function marksGiven(world: World, events: readonly LoggedEvent[]): Promise<string[]> {
  const { service, instanceId, allowed, codeAskedBy } = world;
  const broken: string[] = [];
  for (const { type, aggregateId, editorId, payload } of events) {
    if (type === "user.human.email.code.added") codeAskedBy.set(aggregateId, editorId);
    // A code that users enter themselves proves what whoever asked for it vouches for: none of these went to an address that is
    // the attacker's. Whoever else marks the address vouches for it themselves, by a code or without one.
    const voucher =
      (editorId === aggregateId ? codeAskedBy.get(aggregateId) : undefined) ?? editorId;
    if (type === "user.human.email.changed") codeAskedBy.delete(aggregateId);
    if (type !== "user.human.email.verified") continue;
    const { state } = await service.deps.events.load(user, instanceId, aggregateId);
    const address = state?.email?.address ?? "";
    const { reach } = payload as { reach?: string };
    const isTheirs = address === "" || address.endsWith("@attacker.test");
    if (isTheirs || state?.email?.isVerified !== true) continue;
    const mayVouch = reach === "organization" || allowed.has("iam.write at instance");
    if (voucher === aggregateId || !mayVouch) {
      broken.push(`J9: ${address} of ${aggregateId} is verified by the word of ${voucher}`);
    }
  }
  return broken;
}

/** A name that led to a user leads there still, as long as they are called so (J10). */
async function namesLead(
  { service, instanceId, led }: World,
  events: readonly LoggedEvent[],
): Promise<string[]> {
  if (!any(events, /domain|username|^user\.(?:human|machine)\.added|email|^org\./)) return [];
  const broken = events
    .filter(({ type }) => type === "user.domain.claimed")
    .map(({ aggregateId }) => `J10: ${aggregateId} lost a name to a domain that nobody has proven`);
  const people = createLoginUsers(service.deps);
  for (const [name, id] of led) {
    const found = await people.find(instanceId, name, undefined);
    if (found === id || found === undefined) continue;
    const { state } = await service.deps.events.load(user, instanceId, id);
    // Who renames somebody, or takes them away, may give the name to another.
    if (state === undefined || !name.startsWith(state.username)) continue;
    broken.push(`J10: ${name} leads to ${found}, and led to ${id}`);
  }
  return broken;
}

/** What the instance has set is a floor (J16). */
async function floorsHold(
  { service, instanceId, places, allowed }: World,
  events: readonly LoggedEvent[],
): Promise<string[]> {
  if (!any(events, /^(?:login|settings)/) || allowed.has("iam.policy.write at instance")) return [];
  const policyOf = loginSettingsReader(service.deps.db);
  const demanded = await policyOf(instanceId, "");
  const broken: string[] = [];
  for (const { name, place } of places) {
    if (place.type !== "organization") continue;
    const own = await policyOf(instanceId, place.id);
    const isAsStrict =
      own.sessionLifetimeMs <= demanded.sessionLifetimeMs &&
      own.mfaCheckLifetimeMs <= demanded.mfaCheckLifetimeMs &&
      own.maxPasswordAttempts <= demanded.maxPasswordAttempts &&
      own.secondFactors.every((factor) => demanded.secondFactors.includes(factor));
    if (!isAsStrict) broken.push(`J16: ${name} asks for less than the instance`);
  }
  return broken;
}

const credential =
  /^user\.(?:pat\.added|human\.(?:password\.changed|email\.changed|passwordless\.token\.added|mfa\..*added|externalidp\.added))$/;

/** An old cookie lets nobody make a credential that outlives it (L2). */
function cookieStands(world: World, events: readonly LoggedEvent[]): string[] {
  const id = world.people.get("careless")?.id;
  const ofCareless = events.filter(({ aggregateId }) => aggregateId === id);
  const wasTaken = world.isCarelessTaken;
  // Whoever may take the account over does so by more than the cookie.
  world.isCarelessTaken ||= ofCareless.some(({ editorId }) => editorId !== id);
  const made = ofCareless.find(({ type, editorId }) => editorId === id && credential.test(type));
  return wasTaken || made === undefined
    ? []
    : [`L2: a cookie older than step-up made ${made.type}`];
}

/** A token is for nothing that neither its user nor its client may use (J8). */
async function audienceOf(world: World, value: string): Promise<string[]> {
  const { service, instanceId, host } = world;
  const at = service.atOf(instanceId, host);
  const token = await service.ports.tokens.accessToken(at, value);
  if (token === undefined) return [];
  const { clients, users } = service.ports;
  const [client, owner] = [
    await clients.byId(at, token.clientId),
    await users.byId(at, token.userId),
  ];
  const broken: string[] = [];
  for (const { kind, id } of token.audience) {
    if (kind !== "project" || id === client?.projectId) continue;
    if (owner !== undefined && (await mayUse(world, owner, id))) continue;
    broken.push(`J8: a token of ${token.clientId} for ${token.userId} is for ${kind} ${id}`);
  }
  return broken;
}

/** By the words of the ruling: the project is of the user's organization, was granted to it, or the user has a role in it. */
async function mayUse(
  world: World,
  owner: { id: string; organizationId: string },
  projectId: string,
): Promise<boolean> {
  if ((await homeOfProject(world, projectId)) === owner.organizationId) return true;
  const grants = await projectGrantsIn(world);
  if (
    grants.some(
      (grant) =>
        grant.projectId === projectId && grant.grantedOrganizationId === owner.organizationId,
    )
  ) {
    return true;
  }
  const roles = await userGrantsIn(world);
  return roles.some((grant) => grant.projectId === projectId && grant.userId === owner.id);
}
