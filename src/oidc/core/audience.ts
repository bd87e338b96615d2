import type { ApiPower, AudienceRef } from "./api-ports.ts";
import type { At, Client, Ports, User } from "./ports.ts";
import { projectIn, projectsIn } from "./scope.ts";

const ownProjectName = "idsvc";

/** What tokens are issued for: what of the scope is granted, whom they are for, and what they may do at our own APIs. */
export type Targets = {
  scope: readonly string[];
  audience: readonly AudienceRef[];
  access: ApiPower | undefined;
};

type Parts = Pick<Ports, "clients" | "users" | "settings">;

/**
 * Whom tokens of a client are for: the client, its project with its apps, and the projects that the scope asks for where
 * the user may use them; others are left out. Our own APIs are asked for like any other and given by `access` alone, to be
 * an app of the service's own project is no audience (J4).
 */
export async function targetsOf(
  parts: Parts,
  at: At,
  client: Pick<Client, "clientId" | "projectId">,
  user: User,
  asked: { scope: readonly string[]; access: ApiPower | undefined },
): Promise<Targets> {
  const { clients, settings } = parts;
  const { clientId, projectId } = client;
  const own = await settings.ownProjectId(at);
  const audience: AudienceRef[] = [];
  audience.push({ kind: "client", id: clientId });
  if (projectId !== own) audience.push({ kind: "project", id: projectId });
  // An app that is not set up yet has no client id.
  const apps = await clients.ofProject(at, projectId);
  for (const id of apps) if (id !== "" && id !== clientId) audience.push({ kind: "client", id });
  const isAsked = asked.scope.some((word) => isOwnApi(word, own));
  const access = isAsked ? asked.access : undefined;
  const scope = asked.scope.filter((word) => access !== undefined || !isOwnApi(word, own));
  await withProjects(parts, at, user, { scope, own }, audience);
  return { scope, audience, access };
}

/** The same for a machine user, who is a client by themselves: no string that they chose becomes an audience (J8). */
export async function targetsOfMachine(
  parts: Parts,
  at: At,
  user: User,
  scope: readonly string[],
): Promise<AudienceRef[]> {
  const own = await parts.settings.ownProjectId(at);
  return withProjects(parts, at, user, { scope, own }, []);
}

/** Adds the projects that the scope asks for. */
async function withProjects(
  { users }: Parts,
  at: At,
  user: User,
  { scope, own }: { scope: readonly string[]; own: string },
  audience: AudienceRef[],
): Promise<AudienceRef[]> {
  for (const asked of projectsIn(scope)) {
    const id = asked === ownProjectName ? own : asked;
    const kind = id === own ? "api" : "project";
    if (has(audience, { kind, id })) continue;
    const mayAddress = kind === "api" || users.mayAddress(at, user, id);
    if (await mayAddress) audience.push({ kind, id });
  }
  return audience;
}

/**
 * An audience without the projects that the user may use no longer: codes, refresh tokens and subject tokens live on when a
 * grant of a project is taken back, and what is issued by them is for whom it could be asked today (J8). Without a session it
 * was asked for just now.
 */
export async function stillAddressed(
  { users }: Pick<Ports, "users">,
  at: At,
  wanted: {
    user: User;
    client: Pick<Client, "projectId"> | undefined;
    audience: readonly AudienceRef[];
    session: { open: Scoped } | { renew: Scoped };
  },
): Promise<AudienceRef[]> {
  const { user, client, audience, session } = wanted;
  const { scope } = "renew" in session ? session.renew : session.open;
  const lost = new Set<string>();
  for (const id of projectsIn(scope)) {
    const isAudience = id !== client?.projectId && has(audience, { kind: "project", id });
    if (isAudience && !(await users.mayAddress(at, user, id))) lost.add(id);
  }
  return audience.filter(({ kind, id }) => kind !== "project" || !lost.has(id));
}

type Scoped = { scope: readonly string[] };

/** Whether a scope asks for the service's own APIs, by whichever name. */
export function isOwnApi(word: string, ownProjectId: string): boolean {
  const id = projectIn(word);
  return id !== "" && (id === ownProjectName || id === ownProjectId);
}

export const has = (audience: readonly AudienceRef[], { kind, id }: AudienceRef): boolean =>
  audience.some((each) => each.kind === kind && each.id === id);

/** Whether a client is meant: by itself, or as an app of its project. */
export const isFor = (
  { clientId, projectId }: Pick<Client, "clientId" | "projectId">,
  audience: readonly AudienceRef[],
): boolean =>
  has(audience, { kind: "client", id: clientId }) ||
  has(audience, { kind: "project", id: projectId });

/** The projects of an audience. */
export const projectIdsOf = (audience: readonly AudienceRef[]): string[] =>
  audience.filter(({ kind }) => kind !== "client").map(({ id }) => id);

/** An audience as `aud` says it; what is for nobody else is for the issuer, whose userinfo endpoint takes it. */
export const audOf = (
  { issuer }: Pick<At, "issuer">,
  audience: readonly AudienceRef[],
): string[] => (audience.length === 0 ? [issuer] : audience.map(({ id }) => id));
