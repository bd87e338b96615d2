import { generateKeyPairSync, randomBytes } from "node:crypto";
import * as samlify from "samlify";
import { selfSigned } from "../../src/federation/certificate.ts";

/** What the provider does otherwise than a good one: values of its templates, or a change of what it signed. */
export type SamlScript = {
  nameId: string;
  nameIdFormat: string;
  attributes: Record<string, string>;
  tags: Record<string, string>;
  /** Changes the message before it is signed. */
  template(xml: string): string;
  /** Changes it after. */
  forge(xml: string): string;
  /** Signs with a key that its metadata does not have. */
  isForeign: boolean;
};

export type SamlProvider = {
  entityId: string;
  metadata: string;
  script: SamlScript;
  reset(): void;
  /** What the service asks, as this provider reads it; a signature that is not right throws. */
  read(
    serviceMetadata: string,
    asked: URL | Record<string, string>,
  ): Promise<{ id: string; forceAuthn: boolean; relayState: string }>;
  /** The response to a request, in base64. */
  answer(serviceMetadata: string, requestId: string): Promise<string>;
};

const bindings = samlify.Constants.namespace.binding;
const persistent = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
// The messages are the library's own on one side, and of `node-saml` on the other.
samlify.setSchemaValidator({ validate: async () => "not looked at" });

const newKey = (name: string) => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { key, certificate: selfSigned(key, name) };
};

// Keys of 2048 bits take their time: all providers of a test have the same two.
const [own, foreign] = [newKey("own"), newKey("foreign")];

/** A provider of SAML in this process, by a library that the service does not use. */
export function startSamlProvider({ wantsSigned = false } = {}): SamlProvider {
  const entityId = `https://saml-${randomBytes(4).toString("hex")}.test/metadata`;
  const withKey = ({ key, certificate }: typeof own) =>
    samlify.IdentityProvider({
      entityID: entityId,
      privateKey: key,
      signingCert: certificate,
      isAssertionEncrypted: false,
      wantAuthnRequestsSigned: wantsSigned,
      messageSigningOrder: "sign-then-encrypt",
      requestSignatureAlgorithm: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
      singleLogoutService: [{ Binding: bindings.redirect, Location: "https://idp.test/logout" }],
      singleSignOnService: [
        { Binding: bindings.redirect, Location: `https://idp.test/redirect` },
        { Binding: bindings.post, Location: `https://idp.test/post` },
      ],
    });
  const [idp, other] = [withKey(own), withKey(foreign)];
  const good = (): SamlScript => ({
    nameId: `subject-${randomBytes(4).toString("hex")}`,
    nameIdFormat: persistent,
    attributes: {
      email: `${randomBytes(4).toString("hex")}@saml.test`,
      uid: `saml-${randomBytes(4).toString("hex")}`,
      givenName: "Mona",
      sn: "Lisa",
    },
    tags: {},
    template: (xml) => xml,
    forge: (xml) => xml,
    isForeign: false,
  });

  const provider: SamlProvider = {
    entityId,
    metadata: idp.getMetadata(),
    script: good(),
    reset() {
      provider.script = good();
    },

    async read(serviceMetadata, asked) {
      const sp = samlify.ServiceProvider({ metadata: serviceMetadata });
      const isForm = !(asked instanceof URL);
      const query = isForm ? asked : Object.fromEntries(asked.searchParams);
      // As the signature covers it (SAML bindings 3.4.4.1).
      const octetString = isForm ? "" : (asked.search.slice(1).split("&Signature=")[0] ?? "");
      const { extract, samlContent } = await idp.parseLoginRequest(
        sp,
        isForm ? "post" : "redirect",
        {
          ...(isForm ? { body: query } : { query }),
          octetString,
        },
      );
      const request = extract.request ?? {};
      return {
        id: String(request["id"]),
        forceAuthn: samlContent.includes('ForceAuthn="true"'),
        relayState: query["RelayState"] ?? "",
      };
    },

    async answer(serviceMetadata, requestId) {
      const { nameId, nameIdFormat, attributes, tags, template, forge, isForeign } =
        provider.script;
      const sp = samlify.ServiceProvider({ metadata: serviceMetadata });
      const now = Date.now();
      const at = (seconds: number) => new Date(now + seconds * 1_000).toISOString();
      const destination = String(sp.entityMeta.getAssertionConsumerService("post"));
      const statement = Object.entries(attributes)
        .map(
          ([name, value]) =>
            `<saml:Attribute Name="${name}"><saml:AttributeValue>${value}</saml:AttributeValue></saml:Attribute>`,
        )
        .join("");
      const all: Record<string, string> = {
        ID: `_${randomBytes(16).toString("hex")}`,
        AssertionID: `_${randomBytes(16).toString("hex")}`,
        Destination: destination,
        SubjectRecipient: destination,
        Audience: String(sp.entityMeta.getEntityID()),
        Issuer: entityId,
        IssueInstant: at(0),
        StatusCode: "urn:oasis:names:tc:SAML:2.0:status:Success",
        ConditionsNotBefore: at(-5),
        ConditionsNotOnOrAfter: at(300),
        SubjectConfirmationDataNotOnOrAfter: at(300),
        NameIDFormat: nameIdFormat,
        NameID: nameId,
        InResponseTo: requestId,
        ...tags,
      };
      const fill = (xml: string) =>
        Object.entries(all)
          .reduce((text, [tag, value]) => text.replaceAll(`{${tag}}`, value), template(xml))
          .replace("{AuthnStatement}", `<saml:AuthnStatement AuthnInstant="${at(0)}"/>`)
          .replace(
            "{AttributeStatement}",
            `<saml:AttributeStatement>${statement}</saml:AttributeStatement>`,
          );
      const { context } = await (isForeign ? other : idp).createLoginResponse(
        sp,
        { extract: { request: { id: requestId } } },
        "post",
        {},
        { customTagReplacement: (xml) => ({ id: all["ID"] ?? "", context: fill(xml) }) },
      );
      const xml = Buffer.from(context, "base64").toString("utf8");
      return Buffer.from(forge(xml)).toString("base64");
    },
  };
  return provider;
}
