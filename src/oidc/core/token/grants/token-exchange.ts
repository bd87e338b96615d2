import { lesserPower } from "../../api-power.ts";
import { has, isOwnApi } from "../../audience.ts";
import { invalidRequest, OAuthError } from "../../errors.ts";
import { type Parameters, required } from "../../form.ts";
import { grantedScope, issueTokens, type SessionData } from "../../issue.ts";
import type { ApiPower, AudienceRef } from "../../api-ports.ts";
import type { At, Client, Parent } from "../../ports.ts";
import { invalidScope, projectsIn, readScope } from "../../scope.ts";
import { chain, requireMayActFor } from "../exchange/impersonation.ts";
import { accessTokenType, idTokenType, jwtType, type Party, readParty } from "../exchange/party.ts";
import type { Grant, TokenAnswer, TokenParts } from "../grant.ts";
import { activeUser, fieldsOf } from "../outcome.ts";
import { usedUpAnyway } from "../used-up.ts";

const requestable: readonly string[] = [accessTokenType, jwtType, idTokenType];
// Deeper than anybody delegates; each parent is looked at whenever the token is used.
const mostParents = 50;

/** RFC 8693: a token with another scope, audience or subject. What comes of it ends with what it came from. */
export const tokenExchange: Grant = {
  name: "urn:ietf:params:oauth:grant-type:token-exchange",
  appGrant: "token_exchange",
  isOn: ({ settings }, at) => settings.isTokenExchangeOn(at),
  async handle(parts, { form, at, client, spend }) {
    if (form.has("resource")) throw invalidTarget("the parameter resource is not supported");
    const wanted = form.get("requested_token_type") ?? accessTokenType;
    if (!requestable.includes(wanted)) {
      throw invalidRequest("the requested token type is not supported");
    }
    const given = tokensOf(form);
    const asked = grantedScope(client, readScope(required(form, "scope")));
    const subject = await readParty(parts, at, client, "subject_token", given.subject);
    return usedUpAnyway(parts.tokens, at, subject.spend, async () => {
      const actor = given.actor && (await readParty(parts, at, client, "actor_token", given.actor));
      if (actor === undefined && subject.needsActor) {
        throw invalidRequest("this type of subject_token needs an actor_token");
      }
      if (actor !== undefined) {
        await requireMayActFor(parts, at, client, { actor: actor.user, subject: subject.user });
      }
      const user = await activeUser(parts, at, client, subject.user.id);
      const own = await parts.settings.ownProjectId(at);
      const access = await accessOf(parts, at, client, subject, actor);
      const all = audienceOf(form.get("audience"), subject, actor);
      const audience = all.filter(({ kind }) => kind !== "api" || access !== undefined);
      const reachesApi = has(audience, { kind: "api", id: own });
      const scope = asked.filter((word) => reachesApi || !isOwnApi(word, own));
      requireWithin(scope, subject.scope ?? actor?.scope ?? []);
      const session = sessionOf(subject, actor, {
        issuer: at.issuer,
        clientId: client.clientId,
        audience,
        scope,
        access: reachesApi ? access : undefined,
      });
      const asIdToken = wanted === idTokenType;
      const issued = await issueTokens(parts, at, {
        user,
        client,
        clientId: client.clientId,
        scope,
        audience: session.audience,
        access: session.access,
        session: { open: session },
        accessToken: asIdToken ? undefined : wanted === jwtType ? "jwt" : "opaque",
        idToken: asIdToken || scope.includes("openid"),
        refreshToken: !asIdToken && scope.includes("offline_access"),
        spend: [...spend, ...subject.spend],
        impersonation:
          actor === undefined || session.actor === undefined ? undefined : { actor: session.actor },
      });
      if (issued.outcome === "spent" && subject.spend.length > 0 && spend.length === 0) {
        throw invalidRequest("the subject_token was used before");
      }
      const { id_token: idToken, ...fields } = fieldsOf(issued);
      return (
        asIdToken
          ? { ...fields, access_token: idToken, token_type: "N_A", issued_token_type: wanted }
          : {
              ...fields,
              issued_token_type: wanted,
              ...(idToken === undefined ? {} : { id_token: idToken }),
            }
      ) satisfies TokenAnswer;
    });
  },
};

function tokensOf(form: Parameters) {
  const subject = {
    value: required(form, "subject_token"),
    type: required(form, "subject_token_type"),
  };
  const [value, type] = [form.get("actor_token"), form.get("actor_token_type")];
  if (value === undefined && type === undefined) return { subject, actor: undefined };
  if (value === undefined || type === undefined) {
    throw invalidRequest("actor_token and actor_token_type go together");
  }
  return { subject, actor: { value, type } };
}

/** @throws OAuthError invalid_target beyond what the tokens together are for */
function audienceOf(
  asked: string | undefined,
  subject: Party,
  actor: Party | undefined,
): readonly AudienceRef[] {
  const own = subject.audience.length > 0 ? subject.audience : (actor?.audience ?? []);
  if (asked === undefined) return own;
  const wanted = [...new Set(asked.split(" ").filter((each) => each !== ""))];
  const all = [...subject.audience, ...(actor?.audience ?? [])];
  if (!wanted.every((each) => all.some(({ id }) => id === each))) {
    throw invalidTarget("the audience exceeds that of the tokens");
  }
  const chosen: AudienceRef[] = [];
  for (const ref of all) if (wanted.includes(ref.id) && !has(chosen, ref)) chosen.push(ref);
  return chosen;
}

/**
 * What the token may do at our own APIs: no more than the one it came from, and no more than the client may by itself where
 * that is another one (J6).
 */
async function accessOf(
  { consents, users }: TokenParts,
  at: At,
  client: Client,
  subject: Party,
  actor: Party | undefined,
): Promise<ApiPower | undefined> {
  const source = subject.scope === undefined ? actor : subject;
  if (source === undefined) return undefined;
  if (source.clientId === client.clientId) return source.access;
  const user = await users.byId(at, source.user.id);
  const own = user && (await consents.apiPower(at, user, client));
  // A machine user gives what they may do themselves, and asks nobody.
  return source.isMachine ? own : lesserPower(source.access, own);
}

/** @throws OAuthError invalid_scope beyond what was consented to: to widen it, the person is asked (J6) */
function requireWithin(scope: readonly string[], consented: readonly string[]): void {
  const projects = projectsIn(consented);
  const isWithin = (word: string) =>
    consented.includes(word) || projectsIn([word]).some((id) => projects.includes(id));
  if (scope.every(isWithin)) return;
  throw invalidScope("the scope exceeds what the tokens were given: ask the user for more");
}

function sessionOf(
  subject: Party,
  actor: Party | undefined,
  {
    issuer,
    ...asked
  }: {
    issuer: string;
    clientId: string;
    audience: readonly AudienceRef[];
    access: ApiPower | undefined;
    scope: readonly string[];
  },
): SessionData {
  const { user } = subject;
  // Who acts is who has authenticated.
  const { authTime, amr, acr } = actor ?? subject;
  const parents = united([...subject.parents, ...(actor?.parents ?? [])]);
  if (parents.length > mostParents) throw invalidRequest("the tokens were exchanged too often");
  return {
    ...asked,
    userId: user.id,
    organizationId: user.organizationId,
    sessionId: "",
    nonce: undefined,
    claims: undefined,
    authTime,
    amr,
    acr,
    parents,
    actor: actor === undefined ? subject.actor : chain(issuer, actor, subject.actor),
  };
}

/** Each once; where the user had logged in for one of them, that is kept. */
function united(parents: readonly Parent[]): Parent[] {
  const byId = new Map<string, Parent>();
  for (const parent of parents) {
    if ((byId.get(parent.id)?.userId ?? "") === "") byId.set(parent.id, parent);
  }
  return [...byId.values()];
}

const invalidTarget = (description: string) => new OAuthError("invalid_target", description);
