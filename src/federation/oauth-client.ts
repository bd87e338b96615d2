import * as client from "openid-client";
import type { EgressClient } from "../egress/client.ts";
import { EgressError } from "../egress/error.ts";
import { DomainError } from "../errors.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { callbackPath } from "./paths.ts";
import type { Answer } from "./provider.ts";
import {
  answerInvalid,
  configInvalid,
  denied,
  providerUnavailable,
  tokenInvalid,
} from "./refusals.ts";

/** A client of one provider. Without TLS only where the provider itself is configured so. */
export function clientOf(
  egress: Pick<EgressClient, "call">,
  server: client.ServerMetadata,
  own: { clientId: string; auth: client.ClientAuth; address: string },
  seen?: (response: Response) => Promise<Response>,
): client.Configuration {
  const config = new client.Configuration(server, own.clientId, {}, own.auth);
  const fetch = guardedFetch(egress);
  config[client.customFetch] = async (url, options) => {
    const response = await fetch(url, options);
    return seen === undefined ? response : seen(response);
  };
  // oxlint-disable-next-line typescript/no-deprecated -- marked so to stand out: whoever configured the provider wants it.
  if (URL.parse(own.address)?.protocol === "http:") client.allowInsecureRequests(config);
  return config;
}

/** The secret as the provider wants it; a client without one proves itself by PKCE alone. */
export function authOf(secret: string | undefined, methods: unknown): client.ClientAuth {
  if (secret === undefined || secret === "") return client.None();
  const isPostOnly =
    Array.isArray(methods) &&
    !methods.includes("client_secret_basic") &&
    methods.includes("client_secret_post");
  return isPostOnly ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret);
}

/** The address that the browser came back to, as the provider knows it. */
export function returnedTo({ baseUrl, parameters }: Answer, without: readonly string[] = []): URL {
  const url = new URL(callbackPath, baseUrl);
  for (const [name, value] of parameters) {
    if (!without.includes(name)) url.searchParams.set(name, value);
  }
  return url;
}

/** What a protocol's failure means to the login. */
export async function judged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof client.AuthorizationResponseError) throw denied(error.error);
    const outside = causesOf(error).find((each) => each instanceof EgressError);
    if (outside !== undefined) throw providerUnavailable(outside);
    if (error instanceof DomainError) throw error;
    if (error instanceof client.ResponseBodyError) {
      // It answers in the words of OAuth, so it is the code or the configuration that it does not like.
      if (error.error === "invalid_client") {
        throw configInvalid("it does not know the client, or not by this secret", error);
      }
      throw answerInvalid(`it refuses the code (${error.error.slice(0, 50)})`, error);
    }
    if (statusOf(error) >= 500) throw providerUnavailable(error);
    const claim = claimOf(error);
    throw answerInvalid(claim === undefined ? codeOf(error) : tokenInvalid(claim), error);
  }
}

function causesOf(error: unknown): unknown[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

const statusOf = (error: unknown): number =>
  Math.max(
    0,
    ...causesOf(error).map((each) =>
      each instanceof Error && each.cause instanceof Response ? each.cause.status : 0,
    ),
  );

/** The claim of the ID token that does not hold, as the library names it. */
const claimOf = (error: unknown): string | undefined =>
  causesOf(error)
    .map((each) => (each instanceof Error ? Reflect.get(Object(each.cause), "claim") : undefined))
    .find((claim) => typeof claim === "string");

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "it does not follow its protocol";
