import { randomBytes } from "node:crypto";
import {
  generateServiceProviderMetadata,
  type Profile,
  SAML,
  SamlStatusError,
  ValidateInResponseTo,
} from "@node-saml/node-saml";
import { parseDomFromString, xpath } from "@node-saml/node-saml/lib/xml.js";
import { selfSigned } from "./certificate.ts";
import { acsPath, metadataPath } from "./paths.ts";
import type { Way } from "./provider.ts";
import { answerInvalid, configInvalid, denied } from "./refusals.ts";
import { type Asserted, formats, type Own } from "./saml-format.ts";
import { readMetadata, type SamlPeer } from "./saml-metadata.ts";

const clockSkewMs = 60_000;
const oldestMs = 60 * 60_000;
const waitsMs = 15 * 60_000;

/** What a request for a login is made of; `metadata` is the provider's, as XML. */
export type Wanted = { metadata: string; state: string; baseUrl: string; isFresh: boolean };

/** The request, and how the browser takes it to the provider. */
export async function requestLogin(
  own: Own,
  { metadata, state, baseUrl, isFresh }: Wanted,
): Promise<{ way: Way; requestId: string }> {
  const { config } = own;
  const peer = await readMetadata(metadata);
  const requestId = `_${randomBytes(20).toString("hex")}`;
  const wanted = config.binding ?? (peer.signOn.redirect === undefined ? "post" : "redirect");
  const url = peer.signOn[wanted];
  if (url === undefined) {
    throw configInvalid(`its metadata has no address for requests by ${wanted}`);
  }
  const saml = open(own, peer, baseUrl, {
    entryPoint: url,
    forceAuthn: isFresh,
    generateUniqueId: () => requestId,
    authnRequestBinding: wanted === "post" ? "HTTP-POST" : "HTTP-Redirect",
    // In a form a request stands as it is (SAML bindings 3.5.4).
    skipRequestCompression: wanted === "post",
  });
  if (wanted === "redirect") {
    const to = await saml.getAuthorizeUrlAsync(state, undefined, {});
    return { way: { kind: "redirect", url: to }, requestId };
  }
  const message = await saml.getAuthorizeMessageAsync(state);
  const fields = Object.fromEntries(
    Object.entries(message).map(([name, value]) => [name, String(value)]),
  );
  return { way: { kind: "form", url, fields }, requestId };
}

/** An answer, and the request that it must be for. */
export type Answered = {
  metadata: string;
  baseUrl: string;
  response: string;
  requestId: string;
  begunAt: string;
};

/**
 * What a response says of the user. The assertion, or the response around it, must be signed by a key of the provider, be for
 * us as this provider knows us, and answer the very request that was made (`InResponseTo`). What begins at the provider, or
 * is encrypted, is refused.
 *
 * Source: SAML core 2.0, profiles 2.0 section 4.1.
 */
export async function readResponse(own: Own, answered: Answered): Promise<Asserted> {
  const { metadata, baseUrl, response, requestId, begunAt } = answered;
  const peer = await readMetadata(metadata);
  await requireSuccess(Buffer.from(response, "base64").toString("utf8"));
  const saml = open(own, peer, baseUrl, {
    cacheProvider: {
      getAsync: async (key: string) => (key === requestId ? begunAt : null),
      saveAsync: async () => null,
      removeAsync: async () => null,
    },
  });
  const { profile } = await saml
    .validatePostResponseAsync({ SAMLResponse: response })
    .catch((error: unknown) => {
      if (error instanceof SamlStatusError) throw denied(error.message);
      throw answerInvalid(error instanceof Error ? error.message : "no SAML", error);
    });
  if (profile === null) throw answerInvalid("it tells of nobody");
  requireOurs(profile, {
    issuer: peer.entityId,
    requestId,
    acs: new URL(acsPath(own.id), baseUrl).href,
  });
  return {
    nameId: profile.nameID,
    nameIdFormat: profile.nameIDFormat,
    attributes: (profile["attributes"] ?? {}) as Record<string, unknown>,
  };
}

/** What a provider must know of us. */
export function describeUs({ id, config, secret }: Own, baseUrl: string): string {
  const issuer = new URL(metadataPath(id), baseUrl).href;
  const signs = config.withSignedRequest && secret !== undefined;
  return generateServiceProviderMetadata({
    issuer,
    callbackUrl: new URL(acsPath(id), baseUrl).href,
    identifierFormat: formats[config.nameIdFormat],
    wantAssertionsSigned: true,
    ...(signs ? { privateKey: secret, publicCerts: selfSigned(secret, issuer.slice(0, 64)) } : {}),
  });
}

function open(
  { id, config, secret }: Own,
  peer: SamlPeer,
  baseUrl: string,
  more: Partial<ConstructorParameters<typeof SAML>[0]>,
): SAML {
  const issuer = new URL(metadataPath(id), baseUrl).href;
  return new SAML({
    issuer,
    callbackUrl: new URL(acsPath(id), baseUrl).href,
    audience: issuer,
    idpIssuer: peer.entityId,
    idpCert: peer.certificates,
    identifierFormat: formats[config.nameIdFormat],
    disableRequestedAuthnContext: true,
    // Either signature will do: without one of the response that of the assertion is asked for.
    wantAssertionsSigned: false,
    wantAuthnResponseSigned: false,
    validateInResponseTo: ValidateInResponseTo.always,
    requestIdExpirationPeriodMs: waitsMs,
    acceptedClockSkewMs: clockSkewMs,
    maxAssertionAgeMs: oldestMs,
    signatureAlgorithm: "sha256",
    digestAlgorithm: "sha256",
    ...(config.withSignedRequest && secret !== undefined ? { privateKey: secret } : {}),
    ...more,
  });
}

/** A response that tells of no success proves nobody, whatever stands in it (SAML core 2.0, section 3.2.2). */
async function requireSuccess(xml: string): Promise<void> {
  const document = await parseDomFromString(xml).catch((cause: unknown) => {
    throw answerInvalid("it is no XML", cause);
  });
  const [code] = xpath.selectElements(
    document,
    "/*[local-name()='Response']/*[local-name()='Status']/*[local-name()='StatusCode']",
  );
  const status = code?.getAttribute("Value") ?? "";
  if (status !== success) throw denied(status.split(":").at(-1) ?? "");
}
const success = "urn:oasis:names:tc:SAML:2.0:status:Success";

/**
 * The signed assertion itself must be of the provider and confirm the request, at our address: around it there may be a
 * response that nobody signed, in which anybody names any request (SAML profiles 2.0, section 4.1.4.3).
 */
function requireOurs(
  profile: Profile,
  wanted: { issuer: string; requestId: string; acs: string },
): void {
  if (profile.issuer !== wanted.issuer) throw answerInvalid("it is of another issuer");
  const { Assertion: assertion } = (profile.getAssertion?.() ?? {}) as { Assertion?: XmlElement };
  const confirmed = childrenOf(assertion, "Subject")
    .flatMap((each) => childrenOf(each, "SubjectConfirmation"))
    .filter((each) => each.$?.["Method"] === bearer)
    .flatMap((each) => childrenOf(each, "SubjectConfirmationData"));
  const isOurs = confirmed.some(
    ({ $ }) => $?.["InResponseTo"] === wanted.requestId && $["Recipient"] === wanted.acs,
  );
  if (!isOurs) throw answerInvalid("it confirms no request of ours");
}
const bearer = "urn:oasis:names:tc:SAML:2.0:cm:bearer";

// As the library gives an assertion whose signature is proven.
type XmlElement = { $?: Record<string, string>; [child: string]: unknown };
const childrenOf = (element: XmlElement | undefined, name: string): XmlElement[] => {
  const found = element?.[name];
  return Array.isArray(found) ? (found as XmlElement[]) : [];
};
