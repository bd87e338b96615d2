import { presenceAs } from "../authz/presence.ts";
import type { WriteContext } from "../eventstore/transaction.ts";
import type { At, BrowserSession, Browsers, Interactions } from "../oidc/core/ports.ts";
import { createVisits, endSession, missingProof } from "../resources/session/index.ts";
import { type Agent, agentCookie, type Agents } from "./agents.ts";
import type { FlowData } from "./flow.ts";
import type { FlowStore } from "./flow-store.ts";
import { dueLevel } from "./level.ts";
import { plainPage, wholeInstance } from "./errors.ts";
import { pageHeaders } from "./headers.ts";
import { isBesideMailbox } from "./pages/mfa.ts";
import { type ErrorCode, errorPage } from "./pages/error.ts";
import { formPostPage } from "./pages/form-post.ts";
import { paths } from "./paths.ts";
import { drawn } from "./shown-page.ts";
import type { LoginUsers } from "./users.ts";
import type { LoginPorts } from "./ports.ts";
import { type LoginSessions, toBrowserSession } from "./sessions.ts";

type Parts = LoginPorts & {
  agents: Agents;
  flows: FlowStore;
  users: LoginUsers;
  sessions: LoginSessions;
};

/** What is written of a browser that comes with its sessions. */
const seenBy = ({ instanceId, requestId, where }: At, { id: browser }: Agent): WriteContext => ({
  instanceId,
  requestId,
  browser,
  editorId: "system:login",
  service: "login",
  clientId: "",
  presence: where && presenceAs(where, { isVisitor: true }),
});

const isTlsAt = ({ issuer }: At): boolean => issuer.startsWith("https:");

/** What the provider asks of browsers and of the login: its ports `browsers` and `interactions`. */
export function loginInteractions(parts: Parts): {
  browsers: Browsers;
  interactions: Interactions;
} {
  const { agents, flows, users, sessions, now } = parts;
  const browsers = browsersOf(parts);
  const { sessionsOf } = browsers;

  const interactions: Interactions = {
    missing: (at, request, session) => missingStep(parts, at, request, session),

    async keep({ instanceId }, request) {
      return (await flows.begin(instanceId, "", { request })).address;
    },

    async begin(at, { request, keptAs }, missing, cookies) {
      const { instanceId } = at;
      const known = await agents.load(instanceId, cookies, isTlsAt(at));
      const agent = known ?? (await agents.create(instanceId));
      const kept = keptAs === undefined ? undefined : await flows.load(instanceId, keptAs);
      if (keptAs !== undefined && kept === undefined) {
        throw new Error(`the kept request ${keptAs} is gone`);
      }
      const data: FlowData = { ...(kept?.data ?? { request }), begin: missing };
      const { prompt, maxAgeSeconds, hintedUserId } = request;
      const candidates = (await sessionsOf(at, cookies)).filter(
        ({ user }) => hintedUserId === undefined || user.id === hintedUserId,
      );
      const [only, ...others] = candidates;
      // Who is meant is clear: they are asked for what is missing, and not for their name.
      if (missing !== "create" && missing !== "select_account" && others.length === 0) {
        if (only !== undefined) data.sessionId = only.id;
        else if (hintedUserId !== undefined) {
          data.userId = hintedUserId;
          data.loginName = (await users.account(instanceId, hintedUserId)).loginName;
        }
      }
      const isAsked = prompt.includes("login") || maxAgeSeconds !== undefined;
      if (missing === "login" && isAsked) data.freshSince = now().getTime();
      const { address } = await (kept === undefined
        ? flows.begin(instanceId, agent.id, data)
        : flows.save(instanceId, kept, data, { agentId: agent.id, isEntered: false }));
      const location = `${paths.begin}?flow=${encodeURIComponent(address)}`;
      return {
        location,
        cookies: known === undefined ? [agentCookie(agent, isTlsAt(at))] : [],
      };
    },

    async load(at, id, cookies) {
      const flow = await flows.load(at.instanceId, id);
      if (flow?.data.request === undefined) return undefined;
      if (flow.agentId !== "") {
        const agent = await agents.load(at.instanceId, cookies, isTlsAt(at));
        if (agent?.id !== flow.agentId) return undefined;
      }
      const { request, outcome, sessionId = "" } = flow.data;
      if (outcome === "denied") return { request, outcome };
      if (outcome === undefined) return { request, outcome: undefined };
      const session = await sessions.find(at.instanceId, sessionId);
      const proven = session && toBrowserSession(session);
      return proven && { request, outcome: { session: proven } };
    },

    take: ({ instanceId }, id) => flows.take(instanceId, id),

    ...pagesOf(parts),

    async confirmLogout(at, logout, cookies) {
      const agent = await agents.load(at.instanceId, cookies, isTlsAt(at));
      const { address } = await flows.begin(at.instanceId, agent?.id ?? "", { logout });
      return `${paths.logout}?flow=${encodeURIComponent(address)}`;
    },

    loggedOutLocation: async () => paths.loggedOut,
  };

  return { browsers, interactions };
}

/** What a request lacks beside a session that the browser has. */
const missingStep = async (
  parts: Parts,
  ...[at, request, session]: Parameters<Interactions["missing"]>
): ReturnType<Interactions["missing"]> => {
  const { instanceId } = at;
  const { user } = session;
  const policy = await parts.demandOf(instanceId, user);
  const proven = await parts.sessions.find(instanceId, session.id);
  const factors = await parts.users.factors(instanceId, user.id, policy.secondFactors);
  const missing = missingProof({
    policy,
    proofs: proven?.proofs,
    factors,
    hasFactorBesideMailbox: factors.some(isBesideMailbox),
    freshSince: undefined,
    now: parts.now(),
  });
  if (missing !== undefined) return "login";
  // What is only wished for is no reason to ask a person whom nobody may ask.
  const isWanted = request.acr?.isEssential === true || !request.prompt.includes("none");
  const available = isWanted ? await parts.users.strengths(instanceId, user.id, policy) : [];
  if (proven !== undefined && dueLevel(request.acr, proven, available) !== undefined)
    return "login";
  const app = await parts.appOf(instanceId, request.clientId);
  if (app === undefined) return undefined;
  return (await parts.consents.isDue(instanceId, user, app, request)) ? "consent" : undefined;
};

const pageCodes: Readonly<Record<string, ErrorCode>> = {
  client: "CLIENT_UNKNOWN",
  redirect_uri: "REDIRECT_URI_INVALID",
  temporarily_unavailable: "UNAVAILABLE",
  server_error: "INTERNAL",
};

/** The browsers of a provider: which sessions they have, and the end of some. */
function browsersOf(parts: Parts): Browsers {
  const { agents, sessions } = parts;
  const visits = createVisits(parts);

  async function sessionsOf(at: At, cookies: string): Promise<BrowserSession[]> {
    const agent = await agents.load(at.instanceId, cookies, isTlsAt(at));
    if (agent === undefined) return [];
    const all = await Promise.all(agent.sessionIds.map((id) => sessions.find(at.instanceId, id)));
    const found = all.filter((session) => session !== undefined);
    for (const { id, user } of found) {
      await visits.note(seenBy(at, agent), { id, userId: user.id });
    }
    return found.flatMap((session) => toBrowserSession(session) ?? []);
  }

  return {
    sessionsOf,
    async endSessions(at, sessionIds) {
      for (const sessionId of sessionIds) {
        const { instanceId, requestId, where } = at;
        const presence = where && presenceAs(where, { sessionId, isVisitor: true });
        const editor = { editorId: "system:login", service: "login", clientId: "" };
        await parts.events.transact(
          { instanceId, requestId, ...(presence && { presence }), ...editor },
          (tx) => endSession(parts, tx, { instanceId, sessionId }, "deleted"),
        );
      }
    },
  };
}

/** The pages that the provider itself shows. */
const pagesOf = (parts: Parts): Pick<Interactions, "errorPage" | "formPostPage"> => ({
  async errorPage(at, { code, description, about }, headers) {
    const page = await plainPage(parts, { headers }, at);
    const view = {
      code: pageCodes[about ?? code] ?? "REQUEST_INVALID",
      detail: `${code}: ${description}`,
    };
    return {
      headers: pageHeaders({
        nonce: page.nonce,
        isTls: isTlsAt(at),
        frameOrigins: await parts.frameOriginsOf(wholeInstance(at)),
        hasForms: false,
      }),
      body: drawn(
        page,
        (own) => errorPage(own, { ...view, requestId: at.requestId }),
        () =>
          parts.tellTextsLeftOut(wholeInstance(at), { path: paths.error, language: page.language }),
      ),
    };
  },

  async formPostPage(at, redirectUri, fields, headers) {
    const page = await plainPage(parts, { headers }, at);
    const view = { app: new URL(redirectUri).host, action: redirectUri, parameters: [...fields] };
    return {
      headers: pageHeaders({
        nonce: page.nonce,
        isTls: isTlsAt(at),
        formTargets: [redirectUri],
        frameOrigins: await parts.frameOriginsOf(wholeInstance(at)),
        hasForms: false,
      }),
      body: formPostPage(page, view),
    };
  },
});
