import { said, splitName, textOf } from "./claims.ts";
import type { Parts } from "./oidc.ts";
import type { Connector, ExternalIdentity, SamlConfig } from "./provider.ts";
import { answerInvalid, configInvalid } from "./refusals.ts";
import { type Asserted, formats, type Own } from "./saml-format.ts";
import { inSamlThread } from "./saml-pool.ts";
import { samlBounds, tooMuchXml } from "./xml-bounds.ts";

/**
 * SAML 2.0, web browser single sign-on begun by us. What is too large is refused here, by its text; messages are made and read
 * in a thread of their own (`saml-messages.ts`). A request is used up with its answer.
 */
export function samlConnector({ documents }: Parts, own: Own): Connector {
  const { config } = own;

  /** The provider's metadata, as XML. */
  async function metadataOf(): Promise<string> {
    const xml =
      "xml" in config.metadata
        ? config.metadata.xml
        : (await documents.read(config.metadata.url)).text;
    const tooMuch = tooMuchXml(xml, samlBounds);
    if (tooMuch !== undefined) throw configInvalid(`of its metadata: ${tooMuch}`);
    return xml;
  }

  return {
    async begin({ state, baseUrl, isFresh }) {
      const wanted = { metadata: await metadataOf(), state, baseUrl, isFresh };
      const { way, requestId } = await inSamlThread({ op: "request", own, wanted });
      return { way, kept: { requestId, begunAt: new Date().toISOString() } };
    },

    async finish({ baseUrl, parameters, source }, { requestId = "", begunAt = "" }) {
      const response = parameters.get("SAMLResponse") ?? "";
      const xml = Buffer.from(response, "base64").toString("utf8");
      if (requestId === "" || xml === "") throw answerInvalid("there is no response");
      const tooMuch = tooMuchXml(xml, samlBounds);
      if (tooMuch !== undefined) throw answerInvalid(tooMuch);
      const answered = { metadata: await metadataOf(), baseUrl, response, requestId, begunAt };
      return toIdentity(config, await inSamlThread({ op: "response", own, answered }, source));
    },
  };
}

/** What a provider must know of us. */
export const samlMetadata = (own: Own, baseUrl: string): Promise<string> =>
  inSamlThread({ op: "describe", own, baseUrl });

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

function toIdentity(
  config: SamlConfig,
  { nameId, nameIdFormat, attributes }: Asserted,
): ExternalIdentity {
  const one = (name: string) => {
    const value = attributes[name];
    return textOf(Array.isArray(value) ? value[0] : value);
  };
  const mapping = config.transientMappingAttribute;
  const isTransient = nameIdFormat === formats.transient;
  const id = isTransient ? mapping && one(mapping) : textOf(nameId);
  if (id === undefined || id === "") {
    throw answerInvalid("it names the user anew each time, and has no attribute that does not");
  }
  const all = Object.fromEntries(
    Object.entries(names).map(([meaning, known]) => [meaning, known.map(one).find((each) => each)]),
  );
  const isEmail = nameIdFormat === formats.email_address;
  return {
    ...splitName(textOf(all["displayName"])),
    ...said({ email: isEmail ? textOf(nameId) : undefined }),
    id,
    ...said(all),
    // An assertion does not say who proved what.
    raw: { ...attributes, name_id: nameId, name_id_format: nameIdFormat },
  };
}
