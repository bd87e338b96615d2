import type {
  DescMethodUnary,
  JsonValue,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Awaitable } from "../awaitable.ts";
import type { Caller } from "../authz/context.ts";
import type { StepUp } from "../authz/ports.ts";
import type { CallForPerson } from "../authz/service.ts";
import { strengthOf } from "../authz/step-up.ts";
import { DomainError } from "../errors.ts";
import { leave } from "../login/advance.ts";
import type { OwnWork } from "../login/flow.ts";
import type { NoticeCode, Page } from "../login/page.ts";
import type { PageContext, Shown } from "../login/page-context.ts";
import type { AccessChoice } from "../login/parts/access.ts";
import type { Account } from "../login/parts/account.ts";
import { noticeOf, type Route, type RouteParts } from "../login/route.ts";
import { type LoginSession, signedInHere } from "../login/sessions.ts";
import type { LoginAnswer } from "../login/web.ts";
import { writing } from "../login/writing.ts";
import { createVisits, type Proof, recordProof } from "../resources/session/index.ts";
import { proveAnew, signInFor } from "./step-up.ts";

export type AccountParts = RouteParts & {
  callForPerson: CallForPerson;
  /** As whom the session of a browser lets its user act. */
  callerOf(instanceId: string, sessionId: string): Awaitable<Caller | undefined>;
  requireStepUp: StepUp["require"];
  signIns: SignIns;
  allowedApps: AllowedApps;
  grantedRoles: GrantedRoles;
  /** The place of an address, as far as whoever runs the service has named it. */
  placeOf(address: string): string | undefined;
};

/** Where a person is signed in. */
export type SignIn = {
  id: string;
  /** The one that the person calls with. */
  isOwn: boolean;
  browser: string;
  system: string;
  address: string;
  since?: Timestamp | undefined;
  lastSeen?: Timestamp | undefined;
};

/** A part of a list. */
export type Part = { limit: number; offset: number };

/** What is asked of sign-ins, as the person. */
export type SignIns = {
  search(own: Pick<Own, "call" | "user">, part: Part): Promise<readonly SignIn[]>;
  end(own: Pick<Own, "call">, id: string): Promise<unknown>;
};

/** What a person let one app have. */
export type AllowedApp = {
  id: string;
  app: string;
  scopes: readonly string[];
  /** How much of their power; undefined for none. */
  access: AccessChoice | undefined;
  since?: Timestamp | undefined;
  lastUsed?: Timestamp | undefined;
};

/** What is asked of consents, as the person. */
export type AllowedApps = {
  search(own: Pick<Own, "call" | "user">, part: Part): Promise<readonly AllowedApp[]>;
  /** The same as the API tells it, a message in JSON each. */
  written(own: Pick<Own, "call" | "user">, part: Part): Promise<readonly JsonValue[]>;
  end(own: Pick<Own, "call">, id: string): Promise<unknown>;
};

/** What is asked of user grants, as the person. */
export type GrantedRoles = {
  search(
    own: Pick<Own, "call" | "user">,
    part: Part,
  ): Promise<readonly { projectId: string; organizationId: string; roles: readonly string[] }[]>;
  /** The same as the API tells it, a message in JSON each. */
  written(own: Pick<Own, "call" | "user">, part: Part): Promise<readonly JsonValue[]>;
};

/** A page, and whose account it is of. */
export type AccountPage = Page & { account: Account; path: string };

/** A request to a page of an account, of the person who is signed in to this browser. */
export type Own = {
  readonly context: PageContext;
  readonly session: LoginSession;
  readonly user: { id: string; organizationId: string };
  readonly caller: Caller;
  readonly account: Account;
  /** What is under way on the page. */
  readonly work: OwnWork | undefined;
  /** Calls a method as the person, who may do what their session lets them. */
  call<M extends DescMethodUnary>(
    method: M,
    request: MessageInitShape<M["input"]>,
  ): Promise<MessageShape<M["output"]>>;
  /** Notes what the person has just proven in their session: a factor that is new is demanded of it from now on. */
  proved(proof: Proof): Promise<void>;
  /** Keeps what is under way, for the pages that follow. */
  keep(work: Omit<OwnWork, "sessionId">): Promise<void>;
  show(render: (page: AccountPage) => string, shown?: Shown): Promise<LoginAnswer>;
  /** Leads to a page; what was under way is over. */
  done(path: string, notice?: NoticeCode): LoginAnswer;
};

/** As many of a list as are wanted, or the most that a call may ask for. */
export const atMost = ({ deps: { limits } }: AccountParts, wanted: number): number =>
  Math.min(wanted, limits.listMax, limits.historyMax);

type Act = (own: Own) => Promise<LoginAnswer>;

/**
 * A page of the account. A person who is not signed in as the settings of their organization demand is redirected to the login, and
 * from there back to the page. So is a person whose change needs a more recent or a stronger authentication (L2).
 */
export function ownRoute(
  parts: AccountParts,
  { path, get, post }: { path: string; get: Act; post?: Act },
): Route {
  const visits = createVisits(parts.deps);
  const enter = (act: Act) => async (context: PageContext) => {
    const session = (await signedInHere(parts.sessions, context)).at(-1);
    const { instanceId } = context.at;
    const caller = session && (await parts.callerOf(instanceId, session.id));
    if (session === undefined || caller?.kind !== "user" || caller.unfinished !== undefined) {
      return signInFor(parts, context, path, session);
    }
    if (context.hasFlow && context.flow.data.own?.sessionId !== session.id) {
      return leave(context.go(""), path);
    }
    const by = { ...writing(context, "system:login"), browser: context.agent.id };
    await visits.note(by, { id: session.id, userId: session.user.id });
    const own = await ownOf(parts, context, { session, caller, path });
    try {
      return await act(own);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const needed = strengthOf(error.metadata["acr_values"] ?? "");
      if (error.reason === "STEP_UP_REQUIRED" && needed !== undefined) {
        return proveAnew(parts, context, { path, session, needed });
      }
      if (!isOfSession.has(error.reason)) throw error;
      return signInFor(parts, context, path, session);
    }
  };
  return {
    path,
    isLasting: true,
    get: enter(get),
    ...(post === undefined ? {} : { post: enter(post) }),
  };
}

// What ends between the look at a session and the call.
const isOfSession: ReadonlySet<string> = new Set(["MFA_REQUIRED", "LOGIN_POLICY", "TOKEN_INVALID"]);

async function ownOf(
  parts: AccountParts,
  context: PageContext,
  { session, caller, path }: { session: LoginSession; caller: Caller; path: string },
): Promise<Own> {
  const { user } = session;
  const { instanceId, issuer, requestId, peer } = context.at;
  const account = await parts.users.account(instanceId, user.id);
  const person = {
    caller,
    browser: context.agent.id,
    issuer,
    requestId,
    peer,
    language: context.language,
    header: context.header,
  };
  return {
    context,
    session,
    user,
    caller,
    account,
    work: context.hasFlow ? context.flow.data.own : undefined,
    call: (method, request) => parts.callForPerson(method, request, person),
    proved: (proof) =>
      recordProof(parts, writing(context, user.id), { sessionId: session.id, proof }),
    async keep(work) {
      const data = context.hasFlow ? context.flow.data : {};
      await context.save({ ...data, own: { ...work, sessionId: session.id } });
    },
    show: (render, shown = {}) =>
      context.show((page) => render({ ...page, account, path }), {
        ...noticeOf(context),
        ...shown,
        self: shown.self ?? path,
        tenant: { instanceId, organizationId: user.organizationId },
        // What is pressed here ends accounts: no other page lies around it.
        isUnframed: true,
      }),
    done: (to, notice) =>
      leave(context.go(""), notice === undefined ? to : `${to}?${new URLSearchParams({ notice })}`),
  };
}
