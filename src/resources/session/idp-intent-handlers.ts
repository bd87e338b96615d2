import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { IDPInformationSchema } from "#gen/idsvc/resources/session/v3alpha/idp_intent_pb.ts";
import type { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import { invalidArgument, invalidField } from "../../errors.ts";
import type { Way } from "../../federation/index.ts";
import type { Deps } from "../../projection/module.ts";
import { toDetails } from "../object/details.ts";
import type { Said, UserDeps } from "../user/index.ts";
import { ownPages } from "./own-pages.ts";
import type { IdpLogins } from "./ports.ts";

export function idpIntentHandlers(deps: UserDeps, logins: IdpLogins) {
  const requireOwn = redirectGuard(deps);
  const organizationOf = ({ context }: Scope) =>
    context.type === "organization" ? context.organizationId : undefined;

  return {
    async startIdentityProviderIntent({ idpId, content }, scope) {
      const at = { ...writeContext(scope), issuer: scope.issuer };
      const organizationId = organizationOf(scope);
      if (content.case === "ldap") {
        const goesOn = { successUrl: "", failureUrl: "" };
        const login = await logins.lookUp(at, { idpId, organizationId, goesOn }, content.value);
        if (login === undefined) throw credentialsInvalid();
        const { id: idpIntentId, token: idpIntentToken, userId = "", written } = login;
        const value = { idpIntentId, idpIntentToken, userId };
        return { details: toDetails(written()), nextStep: { case: "idpIntent", value } };
      }
      if (content.case !== "urls") throw new Error("validation requires the content");
      // What is not there for the caller comes before what is wrong with their request (B3).
      await deps.intents.requireIdp(scope.instanceId, organizationId, idpId);
      const { successUrl, failureUrl } = content.value;
      await requireOwn(scope.instanceId, successUrl, "urls.success_url");
      await requireOwn(scope.instanceId, failureUrl, "urls.failure_url");
      const goesOn = { successUrl, failureUrl };
      const begun = await logins.begin(at, { idpId, organizationId, goesOn, isFresh: false });
      return { details: toDetails(begun.written()), nextStep: toNextStep(begun.way) };
    },

    async getIdentityProviderIntent({ idpIntentId: id, idpIntentToken: token }, scope) {
      const login = await logins.retrieve(writeContext(scope), { id, token });
      const idp = await deps.intents.provider(scope.instanceId, login.idpId);
      return {
        details: toDetails(login.written()),
        idpInformation: toInformation(login, idp?.type ?? ""),
        userId: login.userId ?? "",
      };
    },
  } satisfies Partial<Handlers<typeof SessionService>>;
}

const toNextStep = (way: Way) =>
  way.kind === "redirect"
    ? ({ case: "authUrl", value: way.url } as const)
    : ({ case: "formData", value: { url: way.url, fields: { ...way.fields } } } as const);

function toInformation(
  { idpId, identity }: Said,
  type: string,
): MessageInitShape<typeof IDPInformationSchema> {
  // What a provider said came as JSON.
  const raw = identity.raw as JsonObject;
  const { accessToken = "", idToken = "" } = identity;
  return {
    idpId,
    userId: identity.id,
    userName: identity.username ?? "",
    rawInformation: raw,
    access:
      type === "ldap" || type === "saml"
        ? { case: type, value: { attributes: raw } }
        : { case: "oauth", value: { accessToken, idToken } },
  };
}

// Nothing tells a wrong password from a name that nobody has.
const credentialsInvalid = () =>
  invalidArgument(
    "IDP_CREDENTIALS_INVALID",
    "nobody in the directory has the name, or the password is wrong",
  );

/**
 * Refuses addresses that a browser must not be sent to with the proof of a login: all but pages of the service itself, and
 * of origins that an active app of the instance has.
 *
 * @throws INVALID_ARGUMENT IDP_REDIRECT_DENIED
 */
function redirectGuard(deps: Pick<Deps, "db" | "apps">) {
  const isOwnPage = ownPages(deps);
  return async (instanceId: string, url: string, field: string): Promise<void> => {
    if (await isOwnPage(instanceId, url)) return;
    throw invalidField(
      field,
      "IDP_REDIRECT_DENIED",
      "must be of the service itself, or of an origin that an active app of the instance has",
    );
  };
}
