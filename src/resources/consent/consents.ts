import type { FoundApp } from "../../authz/apps.ts";
import { consoleClientId } from "../../authz/console-client.ts";
import type { ProjectGrants } from "../../authz/grants.ts";
import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import { rowWhere } from "../../projection/rows.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { ownProjectReader } from "../instance/index.ts";
import { projectReader } from "../project/index.ts";
import { requireUser, tellNews } from "../user/index.ts";
import { consent, consentId } from "./consent.ts";
import { type ConsentedAccess, consentEvents } from "./events.ts";
import { consents } from "./projection.ts";
import { asksForOwnApi, projectsIn } from "./scopes.ts";

/** What lets an app come back while nobody is there. */
const offline = "offline_access";

type User = { id: string; organizationId: string };
/** What of an app decides what people can give it. */
type AskingApp = Pick<
  FoundApp,
  "clientId" | "name" | "projectId" | "organizationId" | "apiAccess" | "isOwnerMade" | "isLegacy"
>;

/** What a person is asked for: the words of the scope, and how much of their power, where our own APIs are among them. */
type Choice = ConsentedAccess["kind"];

/** What a client may do; with `trusted`, by what it is given and not by what the person consented to. */
type ApiPower =
  | Exclude<ConsentedAccess, { kind: "given" }>
  | (Extract<ConsentedAccess, { kind: "given" }> & { trusted: boolean });

/** What a user has allowed a client, by instance, user and client. */
function recordedConsents(db: Database) {
  type Of = { userId: string; clientId: string };
  const recorded = cachedRead(db, [consents], (instanceId, _, of: Of) =>
    rowWhere(db, consents, { instanceId, ...of }),
  );
  return (instanceId: string, userId: string, clientId: string) =>
    recorded(instanceId, JSON.stringify([userId, clientId]), { userId, clientId });
}

/** What people let apps have: what they are asked for, what they answered, and what follows for tokens. */
export function createConsents({
  db,
  events,
  projectGrants,
  newId,
}: Pick<Deps, "db" | "events" | "projectGrants" | "newId">) {
  const of = recordedConsents(db);
  const projects = projectReader(db);
  const ownProject = ownProjectReader(db);

  async function besideOwnApi(instanceId: string, scope: readonly string[]) {
    const own = await ownProject(instanceId);
    return scope.filter((word) => !asksForOwnApi([word], own));
  }

  return {
    /** Whether the person must be asked before the app gets what it asks for (J5). */
    async isDue(
      instanceId: string,
      user: User,
      app: AskingApp,
      { scope, prompt = [] }: { scope: readonly string[]; prompt?: readonly string[] },
    ): Promise<boolean> {
      // It is the service itself (decision 0351).
      if (app.clientId === consoleClientId) return false;
      await db.catchUp();
      const own = await ownProject(instanceId);
      const apiWords = scope.filter((word) => asksForOwnApi([word], own));
      const row = await of(instanceId, user.id, app.clientId);
      if (apiWords.length > 0 && app.apiAccess?.trusted !== true) {
        // Whoever wants to give more or less than before is asked again by `prompt=consent`.
        if ((row?.access ?? null) === null || prompt.includes("consent")) return true;
      }
      const others = scope.filter((word) => !apiWords.includes(word));
      const asked = (await isAtHome(projectGrants, instanceId, user, app))
        ? await foreignProjects(projects, instanceId, user, app, others)
        : others;
      return !asked.every((word) => row?.scope.includes(word) ?? false);
    },

    /** What of a scope is beside our own APIs, which are told of in words. */
    besideOwnApi,

    /** How much of their power the person can give the app, the least first, where it asks for our own APIs; and the other words. */
    async asked(instanceId: string, user: User, app: AskingApp, scope: readonly string[]) {
      const others = await besideOwnApi(instanceId, scope);
      return { choices: others.length < scope.length ? choicesFor(user, app) : [], others };
    },

    /** What tokens of the app for the user may do at our own APIs; undefined where nobody gave it anything. */
    apiPower(
      { instanceId }: { instanceId: string },
      user: Pick<User, "id">,
      { clientId, apiAccess }: Pick<AskingApp, "clientId" | "apiAccess">,
    ): Awaitable<ApiPower | undefined> {
      if (apiAccess?.trusted === true) {
        const { permissions, instance, organizationIds } = apiAccess;
        return { kind: "given", trusted: true, permissions, instance, organizationIds };
      }
      return whenKnown(of(instanceId, user.id, clientId), (row) => {
        const access = row?.access ?? undefined;
        return access?.kind === "given" ? { ...access, trusted: false } : access;
      });
    },

    /** Records what the person allowed; of what was not offered, the least. */
    async give(
      at: WriteContext,
      user: User,
      app: AskingApp,
      { scope, choice }: { scope: readonly string[]; choice: string },
    ): Promise<void> {
      const { instanceId } = at;
      const { clientId } = app;
      const isAsked = asksForOwnApi(scope, await ownProject(instanceId));
      const offered = choicesFor(user, app).find((one) => one === choice) ?? "own";
      const access = isAsked ? accessFor(user, app, offered) : undefined;
      await events.transact(at, async (tx) => {
        // Who is gone by now leaves no consent behind.
        await requireUser(tx, user.id);
        const loaded = await tx.load(consent, consentId(user.id, clientId));
        tellOfOffline(tx, newId, { instanceId, userId: user.id }, app, {
          before: loaded.state?.scope ?? [],
          now: scope,
        });
        const given = { userId: user.id, clientId, scope: [...scope], ...(access && { access }) };
        const owner = { type: "org", id: user.organizationId } as const;
        tx.record(consent, loaded, [consentEvents["consent.granted"](given)], owner);
      });
    },
  };
}

/** Users of the app's own organization, and of one that has accepted a grant of its project. */
async function isAtHome(
  grants: Pick<ProjectGrants, "isAcceptedBy">,
  instanceId: string,
  user: User,
  app: AskingApp,
): Promise<boolean> {
  if (app.organizationId === user.organizationId) return true;
  return grants.isAcceptedBy(instanceId, app.projectId, user.organizationId);
}

/** Whoever lets an app act while they are away is told of it, once. */
function tellOfOffline(
  tx: Transaction,
  newId: () => string,
  of: { instanceId: string; userId: string },
  { name }: AskingApp,
  scope: { before: readonly string[]; now: readonly string[] },
): void {
  if (scope.before.includes(offline) || !scope.now.includes(offline)) return;
  tellNews(tx, newId, of, { news: "offline.allowed", app: name });
}

function choicesFor(user: User, app: AskingApp): Choice[] {
  const { apiAccess, organizationId, isOwnerMade, isLegacy } = app;
  const all: [Choice, boolean][] = [
    ["own", true],
    ["organization", organizationId === user.organizationId],
    ["given", apiAccess !== undefined && apiAccess.permissions.length > 0],
    ["everything", isOwnerMade && !isLegacy],
    ["legacy", isLegacy],
  ];
  return all.filter(([, isOffered]) => isOffered).map(([choice]) => choice);
}

function accessFor(user: User, app: AskingApp, choice: Choice): ConsentedAccess {
  const { organizationId } = user;
  if (choice === "organization") return { kind: choice, organizationId };
  if (choice !== "given") return { kind: choice };
  if (app.apiAccess === undefined) return { kind: "own" };
  const { permissions, instance, organizationIds } = app.apiAccess;
  return { kind: choice, permissions, instance, organizationIds };
}

/** The words that even a person at home is asked for: tokens for projects of other organizations. */
async function foreignProjects(
  projects: ReturnType<typeof projectReader>,
  instanceId: string,
  user: User,
  app: AskingApp,
  scope: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const word of scope) {
    const [id] = projectsIn([word]);
    if (id === undefined || id === app.projectId) continue;
    const project = await projects.byId(instanceId, id);
    if (project !== undefined && project.organizationId !== user.organizationId) found.push(word);
  }
  return found;
}
