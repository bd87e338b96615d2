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
import { said, splitName, textOf } from "./claims.ts";
import type { Parts } from "./oidc.ts";
import { acsPath, metadataPath } from "./paths.ts";
import type { Connector, ExternalIdentity, SamlConfig } from "./provider.ts";
import { answerInvalid, configInvalid, denied } from "./refusals.ts";
import { readMetadata, type SamlPeer } from "./saml-metadata.ts";

type Own = { id: string; config: SamlConfig; secret: string | undefined };

const formats: Record<SamlConfig["nameIdFormat"], string> = {
  email_address: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
  persistent: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
  transient: "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
};
const clockSkewMs = 60_000;
const oldestMs = 60 * 60_000;
const waitsMs = 15 * 60_000;

/**
 * SAML 2.0, web browser single sign-on begun by us. The assertion, or the response around it, must be signed by a key of
 * the provider, be for us as this provider knows us, and answer the very request that was made (`InResponseTo`), which is
 * used up with it. What begins at the provider, or is encrypted, is refused.
 *
 * Source: SAML core 2.0, profiles 2.0 section 4.1.
 */
export function samlConnector({ documents }: Parts, own: Own): Connector {
  const { config } = own;

  const peerOf = async (): Promise<SamlPeer> =>
    readMetadata(
      "xml" in config.metadata
        ? config.metadata.xml
        : (await documents.read(config.metadata.url)).text,
    );

  return {
    async begin({ state, baseUrl, isFresh }) {
      const peer = await peerOf();
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
      const kept = { requestId, begunAt: new Date().toISOString() };
      if (wanted === "redirect") {
        const to = await saml.getAuthorizeUrlAsync(state, undefined, {});
        return { way: { kind: "redirect", url: to }, kept };
      }
      const message = await saml.getAuthorizeMessageAsync(state);
      const fields = Object.fromEntries(
        Object.entries(message).map(([name, value]) => [name, String(value)]),
      );
      return { way: { kind: "form", url, fields }, kept };
    },

    async finish({ baseUrl, parameters }, { requestId = "", begunAt = "" }) {
      const response = parameters.get("SAMLResponse") ?? "";
      const xml = Buffer.from(response, "base64").toString("utf8");
      if (requestId === "" || xml === "") throw answerInvalid("there is no response");
      if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) throw answerInvalid("it has a document type");
      const peer = await peerOf();
      await requireSuccess(xml);
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
      return toIdentity(config, profile);
    },
  };
}

/** What a provider must know of us. */
export function samlMetadata({ id, config, secret }: Own, baseUrl: string): string {
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

const claims = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/";
const names = {
  username: ["username", "uid", "urn:oid:0.9.2342.19200300.100.1.1", `${claims}name`],
  email: ["email", "mail", "urn:oid:0.9.2342.19200300.100.1.3", `${claims}emailaddress`],
  firstName: ["given_name", "givenName", "firstName", "urn:oid:2.5.4.42", `${claims}givenname`],
  lastName: ["family_name", "sn", "surname", "lastName", "urn:oid:2.5.4.4", `${claims}surname`],
  displayName: ["display_name", "displayName", "urn:oid:2.16.840.1.113730.3.1.241"],
  phone: ["phone", "telephoneNumber", "urn:oid:2.5.4.20"],
  preferredLanguage: ["preferred_language", "preferredLanguage"],
};

function toIdentity(config: SamlConfig, profile: Profile): ExternalIdentity {
  const { nameID, nameIDFormat } = profile;
  const attributes = (profile["attributes"] ?? {}) as Record<string, unknown>;
  const one = (name: string) => {
    const value = attributes[name];
    return textOf(Array.isArray(value) ? value[0] : value);
  };
  const mapping = config.transientMappingAttribute;
  const isTransient = nameIDFormat === formats.transient;
  const id = isTransient ? mapping && one(mapping) : textOf(nameID);
  if (id === undefined || id === "") {
    throw answerInvalid("it names the user anew each time, and has no attribute that does not");
  }
  const all = Object.fromEntries(
    Object.entries(names).map(([meaning, known]) => [meaning, known.map(one).find((each) => each)]),
  );
  const isEmail = nameIDFormat === formats.email_address;
  return {
    ...splitName(textOf(all["displayName"])),
    ...said({ email: isEmail ? textOf(nameID) : undefined }),
    id,
    ...said(all),
    // An assertion does not say who proved what: texts are no proof (abuse case D60).
    isEmailVerified: false,
    isPhoneVerified: false,
    raw: { ...attributes, name_id: nameID, name_id_format: nameIDFormat },
  };
}
