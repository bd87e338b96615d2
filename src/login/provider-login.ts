import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { InnerCaller } from "../authz/service.ts";
import { DomainError } from "../errors.ts";
import type { ExternalIdentity } from "../federation/index.ts";
import { instanceFacts } from "../resources/instance/index.ts";
import { openProvenSession, recordProof } from "../resources/session/index.ts";
import { verifiedContactReader } from "../resources/user/index.ts";
import { paths } from "./paths.ts";
import { phoneSaid } from "./phone-said.ts";
import type { LoginProvider, ProviderSuccess } from "./ports.ts";
import { isMeant, type RouteParts } from "./route.ts";
import { writing } from "./writing.ts";
import { PageRefused, type PageContext } from "./page-context.ts";
import type { LoginAnswer } from "./web.ts";

/** What makes an account. */
export type NewAccount = { givenName: string; familyName: string; email: string };

export type ProviderLogin = {
  /** Goes on after a login with a provider (specification 11.4). */
  arrived(context: PageContext, success: ProviderSuccess): Promise<LoginAnswer>;
  /** Makes an account with the link of the flow, and lets its user in. @throws DomainError of what is wrong with it */
  create(context: PageContext, account: NewAccount): Promise<LoginAnswer>;
  /** What the provider said, for the pages of the flow. @throws PageRefused */
  pendingAccount(context: PageContext): Promise<{ idp: LoginProvider; identity: ExternalIdentity }>;
};

const mostTries = 4;
const stepUpMs = 300_000;

export function createProviderLogin(parts: RouteParts): ProviderLogin {
  const { db, call, intents, functions } = parts;
  const instance = instanceFacts(db);
  const byVerifiedContact = verifiedContactReader(db);

  /** Where an account is made: the organization of the login, of the provider, or the default one. */
  async function homeOf(context: PageContext, { owner }: LoginProvider): Promise<string> {
    const { instanceId } = context.at;
    const home = context.tenant.organizationId ?? (owner.type === "org" ? owner.id : undefined);
    return home ?? (await instance(instanceId)).defaultOrganizationId;
  }

  async function create(context: PageContext, account: NewAccount): Promise<LoginAnswer> {
    const { idp, identity } = await pendingAccount(parts, context);
    const { instanceId } = context.at;
    const organizationId = await homeOf(context, idp);
    const { isCreationAllowed, isAutoCreation } = idp.options;
    const isOn = await intents.isActive(instanceId, organizationId, idp.id);
    if (!isOn) throw new PageRefused("PROVIDER_OFF", 403, "IDP_INACTIVE: not in the organization");
    if (!isCreationAllowed && !isAutoCreation) throw new PageRefused("PROVIDER_NO_ACCOUNT", 403);
    const wanted = wantedOf(context, identity, account);
    const { username, data, email, isVerified } = wanted;
    const described = { username, organization_id: organizationId, data, email };
    const keep = await functions.creating(context.at, described);
    const userId = await makeUser(call, byWordOf(context, idp.owner, organizationId), idp, wanted);
    await keep(userId);
    await functions.created(context.at, { id: userId, organizationId });
    if (!isVerified) {
      await context.save({ ...context.flow.data, email, mustVerifyEmail: true });
    }
    return letIn(parts, context, userId, context.flow.data.idp?.intentId ?? "");
  }

  return {
    pendingAccount: (context) => pendingAccount(parts, context),
    create,

    async arrived(context, { id: intentId, idpId, userId, identity }) {
      const { instanceId } = context.at;
      const idp = await intents.provider(instanceId, idpId);
      if (idp === undefined) throw new PageRefused("PROVIDER_OFF", 403);
      const { options } = idp;
      if (context.flow.data.own?.linking !== undefined) {
        return toLink(parts, context, { intentId, idpId, userId });
      }
      if (userId !== undefined) {
        const answer = await letIn(parts, context, userId, intentId);
        if (options.isAutoUpdate) await update(parts, context, userId, idp, identity);
        return answer;
      }
      const { sessionId: _, userId: __, ...rest } = context.flow.data;
      const candidateId = await candidateOf(parts, byVerifiedContact, context, idp, identity);
      const of = { intentId, idpId, ...(candidateId === undefined ? {} : { candidateId }) };
      await context.save({ ...rest, idp: of });
      if (candidateId !== undefined) return context.go(paths.providerAccount);
      const account = accountOf(identity);
      let why: string | undefined;
      if (options.isAutoCreation && account !== undefined) {
        try {
          return await create(context, account);
        } catch (error) {
          // Somebody has the address, or the name: then the user must say what they want.
          if (!(error instanceof DomainError) || error.kind !== "alreadyExists") throw error;
          why = `${error.reason}: ${error.message}`;
        }
      }
      if (options.isLinkingAllowed) return context.go(paths.providerAccount);
      if (options.isCreationAllowed) return context.go(paths.providerRegister);
      throw new PageRefused("PROVIDER_NO_ACCOUNT", 403, why);
    },
  };
}

/** The login counts for the user of the account, once; then it goes on as after a password. */
async function letIn(
  parts: RouteParts,
  context: PageContext,
  userId: string,
  intentId: string,
): Promise<LoginAnswer> {
  if (!(await isMeant(parts, context, userId))) {
    throw new PageRefused("NOT_ALLOWED", 403, "the request means another user or organization");
  }
  const at = writing(context, userId);
  const outcome = await parts.checks.idpIntent(at, userId, {
    id: intentId,
    flowId: context.flow.id,
  });
  if (!outcome.isRight) throw new PageRefused("NOT_ALLOWED", 403);
  const { idp: _, loginName: __, userId: ___, sessionId: before, ...rest } = context.flow.data;
  const { idpId, isSecondFactor } = outcome;
  const proof = { kind: "intent", idpId, isSecondFactor } as const;
  const { sessionLifetimeMs } = await parts.policyOf(context.tenant);
  const own = await parts.advance.sessionOf(context);
  let sessionId = own?.user.id === userId ? before : undefined;
  if (sessionId !== undefined) await recordProof(parts, at, { sessionId, proof });
  else {
    const opened = { userId, proof, lifetimeMs: sessionLifetimeMs };
    sessionId = await openProvenSession(parts, { ...at, browser: context.agent.id }, opened);
  }
  if (sessionId === undefined) throw new PageRefused("NOT_ALLOWED", 403);
  await context.save({ ...rest, sessionId, isChosen: true });
  return parts.advance.next(context);
}

/** The account that is made of what the provider says and what its user has entered. */
function wantedOf(context: PageContext, identity: ExternalIdentity, account: NewAccount) {
  const { givenName, familyName, email } = account;
  const names = { given_name: givenName, family_name: familyName };
  return {
    identity,
    names,
    email,
    username: identity.username ?? email,
    data: { preferred_language: context.language, ...profileOf(identity), ...names },
    isVerified: identity.isEmailVerified === true && identity.email === email,
  };
}

/** Makes the user with their link to the provider, by the name that they want or one like it, and tells their id. */
async function makeUser(
  call: RouteParts["call"],
  caller: InnerCaller,
  { id: idpId }: LoginProvider,
  {
    identity,
    names,
    email: address,
    username: wanted,
    data,
    isVerified,
  }: ReturnType<typeof wantedOf>,
): Promise<string> {
  const phone = phoneSaid(identity, undefined);
  const verification = isVerified ? verified : ({ case: "sendCode", value: {} } as const);
  const contact = { email: { address, verification }, ...(phone && { phone }) };
  const authenticators = { identityProviders: [{ idpId, userId: identity.id, username: wanted }] };
  const make = (username: string, said: JsonObject) =>
    call(
      UserService.method.createUser,
      { user: { username, data: said, contact, authenticators } },
      caller,
    );
  const made = await withFreeName(wanted, (username) =>
    // What a provider says beside the names may be nothing that the schema takes.
    make(username, data).catch((error: unknown) => {
      if (!(error instanceof DomainError) || error.kind !== "invalidArgument") throw error;
      return make(username, names);
    }),
  );
  return made.details?.id ?? "";
}

/** Goes on to link the account to who asked for that on the pages of their own account; whose it is already, it stays. */
async function toLink(
  { advance, users, demandOf, now }: RouteParts,
  context: PageContext,
  { intentId, idpId, userId }: { intentId: string; idpId: string; userId: string | undefined },
): Promise<LoginAnswer> {
  const { own: _, ...data } = context.flow.data;
  const { instanceId } = context.at;
  const session = await advance.sessionOf(context);
  if (userId !== undefined && session?.user.id !== userId) {
    throw new PageRefused("PROVIDER_NOT_LINKED", 403, "IDP_LINK_TAKEN: it is somebody else's");
  }
  const idp = { intentId, idpId, isLinking: true };
  await context.save({ ...data, ...(userId === undefined ? { idp } : {}) });
  if (session === undefined) return advance.next(context);
  // The way to the provider may have taken longer than a proof counts (L2).
  const policy = await demandOf(instanceId, session.user);
  const [strength] = await users.strengths(instanceId, session.user.id, policy);
  const stepUp = strength && { strength, since: now().getTime() - stepUpMs };
  await context.save({ ...context.flow.data, ...(stepUp && { stepUp }) });
  return advance.next(context);
}

/** What the provider says now replaces what the account says (`is_auto_update`). */
async function update(
  { call }: RouteParts,
  context: PageContext,
  userId: string,
  { owner }: LoginProvider,
  identity: ExternalIdentity,
): Promise<void> {
  const { user } = await call(UserService.method.getUser, { id: userId }, context.asService());
  const data = profileOf(identity);
  const { email, isEmailVerified } = identity;
  const known = user?.user?.contact;
  const phone = phoneSaid(identity, known?.phone);
  const contact = {
    ...(isEmailVerified && email !== undefined && email !== known?.email?.address
      ? { email: { address: email, verification: verified } }
      : {}),
    ...(phone && { phone }),
  };
  try {
    const patch = { data, ...(Object.keys(contact).length === 0 ? {} : { contact }) };
    await call(UserService.method.patchUser, { id: userId, user: patch }, byWordOf(context, owner));
  } catch (error) {
    // What the schema does not take, or somebody else has, is left as it is: it is no reason to keep them out.
    if (!(error instanceof DomainError) || !unfit.has(error.kind)) throw error;
  }
}

/** The one user whom `auto_linking` means. */
async function candidateOf(
  parts: RouteParts,
  byVerifiedContact: ReturnType<typeof verifiedContactReader>,
  context: PageContext,
  { options, id }: LoginProvider,
  { username, email, isEmailVerified }: ExternalIdentity,
): Promise<string | undefined> {
  const { users, intents } = parts;
  const { instanceId } = context.at;
  const { organizationId } = context.tenant;
  // An address counts for a link where the provider has proven it and its mark here reaches so far, also as a username.
  const byMail = (address: string | undefined) =>
    address !== undefined && address === email && isEmailVerified === true
      ? byVerifiedContact(instanceId, address, organizationId, true)
      : undefined;
  const found =
    options.autoLinking === "username" && username !== undefined
      ? ((await users.findByName(instanceId, username, organizationId)) ?? (await byMail(username)))
      : options.autoLinking === "email"
        ? await byMail(email)
        : undefined;
  if (found === undefined || !(await isMeant(parts, context, found))) return undefined;
  const home = await users.organizationOf(instanceId, found);
  const isOn = home !== undefined && (await intents.isActive(instanceId, home, id));
  return isOn ? found : undefined;
}

async function pendingAccount(
  { intents }: RouteParts,
  context: PageContext,
): Promise<{ idp: LoginProvider; identity: ExternalIdentity }> {
  const { instanceId } = context.at;
  const { idp: of } = context.flow.data;
  if (of === undefined) throw new PageRefused("FLOW_NOT_FOUND", 400);
  const proof = { id: of.intentId, flowId: context.flow.id };
  const said = await intents.said(instanceId, proof);
  if (said === undefined) throw new PageRefused("FLOW_NOT_FOUND", 400);
  const { organizationId } = context.tenant;
  const idp = await intents.provider(instanceId, of.idpId);
  if (idp === undefined || !(await intents.isActive(instanceId, organizationId, of.idpId))) {
    throw new PageRefused("PROVIDER_OFF", 403, "IDP_INACTIVE: it was switched off meanwhile");
  }
  return { idp, identity: said.identity };
}

/** Addresses that a provider of an organization calls verified are so by the word of that organization (J9). */
const byWordOf = (
  context: PageContext,
  owner: LoginProvider["owner"],
  organizationId?: string,
) => ({
  ...context.asService(organizationId),
  isWithinOrganizations: owner.type === "org",
});

const unfit: ReadonlySet<string> = new Set(["invalidArgument", "alreadyExists"]);

const verified = { case: "isVerified", value: true } as const;

/** What an account needs, where the provider says all of it. */
function accountOf({ firstName, lastName, email }: ExternalIdentity): NewAccount | undefined {
  return firstName === undefined || lastName === undefined || email === undefined
    ? undefined
    : { givenName: firstName, familyName: lastName, email };
}

/** What the provider says, as the data of the schema `human`. */
export const profileOf = (identity: ExternalIdentity): JsonObject => {
  const all = {
    given_name: identity.firstName,
    family_name: identity.lastName,
    nickname: identity.nickName,
    display_name: identity.displayName,
    preferred_language: identity.preferredLanguage,
    picture: identity.avatarUrl,
    profile: identity.profile,
  };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
};

/** Takes the name, or one like it where it is taken: nobody learns by an error which names there are (D50). */
async function withFreeName<T>(wanted: string, make: (name: string) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const name = tries === 1 ? wanted : `${wanted}-${randomInt(1_000, 10_000)}`;
    try {
      return await make(name);
    } catch (error) {
      const isTaken = error instanceof DomainError && error.reason === "USERNAME_TAKEN";
      if (!isTaken || tries === mostTries) throw error;
    }
  }
}
