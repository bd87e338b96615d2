import type { JsonObject } from "@bufbuild/protobuf";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { type FakeProvider, startFakeProvider } from "../../support/fake-provider.ts";
import { ofService, type Sample, tooLong, type World } from "./sample.ts";
import { newUser } from "./user.ts";

const urls = { success_url: "https://rp.test/ok", failure_url: "https://rp.test/failed" };
let started: Promise<FakeProvider> | undefined;

/** A provider of the instance whose users log in without being asked, and an app that may use the intents of it. */
async function newProvider(world: World): Promise<string> {
  const { issuer, clientId: client_id, secret: client_secret } = await provider();
  const at = issuer.replace("localhost", "127.0.0.1");
  const oidc = { redirect_uris: ["https://rp.test/cb"], app_type: "OIDC_APP_TYPE_WEB" };
  await world.create("/apps", { project_id: world.projectId, name: world.name(), oidc });
  return world.make("/idps/oauth", {
    config: {
      authorization_endpoint: `${at}/authorize`,
      token_endpoint: `${at}/token`,
      user_endpoint: `${at}/user`,
      client_id,
      client_secret,
      id_attribute: "id",
    },
    idp: { options: { is_linking_allowed: true } },
  });
}
const provider = () => (started ??= startFakeProvider({ isInBackground: true }));

let known: Promise<string> | undefined;
const knownProvider = (world: World) => (known ??= newProvider(world));

/** A login with a provider that somebody else has finished in their browser. */
export async function loggedIn(world: World) {
  const fake = await provider();
  const idpId = await knownProvider(world);
  const begun = Object(await world.create("/idp_intents", { idp_id: idpId, urls }));
  const there = await fetch(begun.auth_url, { redirect: "manual" });
  const { pathname, search } = new URL(there.headers.get("location") ?? "");
  const back = new URL(await world.open(`${pathname}${search}`));
  return {
    proof: {
      idp_intent_id: back.searchParams.get("id") ?? "",
      idp_intent_token: back.searchParams.get("token") ?? "",
    },
    idpId,
    externalId: fake.script.user.sub,
  };
}

const linkOf = async (world: World, idp_id: string) => ({
  link: { idp_id, user_id: world.name(), username: "mona" },
});

const reason = "USER_NOT_FOUND";
const ofUser: Pick<Sample, "stranger"> = { stranger: { code: 5, reason } };

async function linkedUser(world: World): Promise<{ id: string; idp_id: string }> {
  const [id, idp_id] = [await newUser(world), await knownProvider(world)];
  await world.create(`/users/${id}/idps`, await linkOf(world, idp_id));
  return { id, idp_id };
}

export const idpLoginSamples: Record<string, Sample> = {
  ...ofService(SessionService.typeName, {
    StartIdentityProviderIntent: {
      valid: async (world) => ({ idp_id: await knownProvider(world), urls }),
      invalid: { request: { idp_id: tooLong, urls }, field: "idp_id" },
      unknown: { request: { idp_id: "404", urls }, reason: "IDP_UNKNOWN" },
      writes: true,
    },
    GetIdentityProviderIntent: {
      valid: async (world): Promise<JsonObject> => (await loggedIn(world)).proof,
      invalid: {
        request: { idp_intent_id: "1", idp_intent_token: "" },
        field: "idp_intent_token",
      },
      unknown: {
        request: { idp_intent_id: "404", idp_intent_token: "x" },
        reason: "IDP_INTENT_NOT_FOUND",
      },
      writes: true,
    },
  }),
  ...ofService(UserService.typeName, {
    AddIDPAuthenticator: {
      valid: async (world) => ({
        id: await newUser(world),
        authenticator: await linkOf(world, await knownProvider(world)),
      }),
      invalid: {
        request: { id: "1", authenticator: { link: { idp_id: tooLong, user_id: "x" } } },
        field: "authenticator.link.idp_id",
      },
      unknown: {
        request: { id: "404", authenticator: { link: { idp_id: "1", user_id: "x" } } },
        reason,
      },
      writes: true,
      ...ofUser,
    },
    RemoveIDPAuthenticator: {
      valid: linkedUser,
      invalid: { request: { id: "1", idp_id: tooLong }, field: "idp_id" },
      unknown: { request: { id: "404", idp_id: "1" }, reason },
      writes: true,
      ...ofUser,
    },
    SearchIDPAuthenticators: {
      valid: ({ userId }) => ({ id: userId }),
      invalid: {
        request: { id: "1", filters: [{ idp_id: tooLong }] },
        field: "filters[0].idp_id",
      },
      unknown: { request: { id: "404" }, reason },
      writes: false,
      ...ofUser,
    },
  }),
};
