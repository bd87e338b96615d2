import { invalidRequest, OAuthError } from "../../errors.ts";
import { type Parameters, required } from "../../form.ts";
import { grantedScope, issueTokens, type SessionData } from "../../issue.ts";
import type { Parent } from "../../ports.ts";
import { readScope } from "../../scope.ts";
import { chain, requireMayActFor } from "../exchange/impersonation.ts";
import { accessTokenType, idTokenType, jwtType, type Party, readParty } from "../exchange/party.ts";
import type { Grant, TokenAnswer } from "../grant.ts";
import { activeUser, fieldsOf } from "../outcome.ts";

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
    const scope = grantedScope(client, readScope(required(form, "scope")));
    const subject = await readParty(parts, at, client, "subject_token", given.subject);
    const actor = given.actor && (await readParty(parts, at, client, "actor_token", given.actor));
    if (actor === undefined && subject.needsActor) {
      throw invalidRequest("this type of subject_token needs an actor_token");
    }
    if (actor !== undefined) await requireMayActFor(parts, at, actor.user, subject.user);
    const user = await activeUser(parts, at, client, subject.user.id);
    const session = sessionOf(subject, actor, {
      issuer: at.issuer,
      clientId: client.clientId,
      audience: audienceOf(form.get("audience"), subject, actor),
      scope,
    });
    const asIdToken = wanted === idTokenType;
    const issued = await issueTokens(parts, at, {
      ...{ user, client, clientId: client.clientId, scope, audience: session.audience },
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
): readonly string[] {
  const own = subject.audience.length > 0 ? subject.audience : (actor?.audience ?? []);
  if (asked === undefined) return own;
  const wanted = [...new Set(asked.split(" ").filter((each) => each !== ""))];
  const all = new Set([...subject.audience, ...(actor?.audience ?? [])]);
  if (!wanted.every((each) => all.has(each))) {
    throw invalidTarget("the audience exceeds that of the tokens");
  }
  return wanted;
}

function sessionOf(
  subject: Party,
  actor: Party | undefined,
  {
    issuer,
    ...asked
  }: { issuer: string; clientId: string; audience: readonly string[]; scope: readonly string[] },
): SessionData {
  const { user } = subject;
  // Who acts is who has proven himself.
  const { authTime, amr } = actor ?? subject;
  const parents = united([...subject.parents, ...(actor?.parents ?? [])]);
  if (parents.length > mostParents) throw invalidRequest("the tokens were exchanged too often");
  return {
    ...asked,
    ...{ userId: user.id, organizationId: user.organizationId, sessionId: "" },
    ...{ nonce: undefined, claims: undefined, authTime, amr, parents },
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
