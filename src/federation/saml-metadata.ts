import { parseDomFromString, xpath } from "@node-saml/node-saml/lib/xml.js";
import { configInvalid } from "./refusals.ts";

/** What a provider of SAML says of itself (SAML metadata 2.0). */
export type SamlPeer = {
  entityId: string;
  /** Where requests go, by how they are sent. */
  signOn: { post?: string; redirect?: string };
  /** Certificates of the keys that it signs with, in base64. */
  certificates: string[];
};

const bindings = {
  post: "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST",
  redirect: "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect",
};

/**
 * @param xml within its bounds (`tooMuchXml`)
 * @throws FAILED_PRECONDITION IDP_CONFIG_INVALID
 */
export async function readMetadata(xml: string): Promise<SamlPeer> {
  const document = await parseDomFromString(xml).catch((cause: unknown) => {
    throw configInvalid("its metadata is no XML", cause);
  });
  const all = (path: string) => xpath.selectElements(document, path);
  const descriptor = "//*[local-name()='IDPSSODescriptor']";
  const [entity] = all("//*[local-name()='EntityDescriptor'][*[local-name()='IDPSSODescriptor']]");
  const services = all(`${descriptor}/*[local-name()='SingleSignOnService']`);
  const at = (binding: string) =>
    services
      .find((each) => each.getAttribute("Binding") === binding)
      ?.getAttribute("Location")
      ?.trim();
  const { post, redirect } = { post: at(bindings.post), redirect: at(bindings.redirect) };
  const certificates = all(
    `${descriptor}/*[local-name()='KeyDescriptor'][not(@use) or @use='signing']//*[local-name()='X509Certificate']`,
  ).map((each) => (each.textContent ?? "").replaceAll(/\s/g, ""));
  const entityId = entity?.getAttribute("entityID") ?? "";
  const addresses = [post, redirect].filter((each) => each !== undefined);
  if (entityId === "" || certificates.length === 0 || !addresses.some((each) => isOfTheWeb(each))) {
    throw configInvalid("its metadata lacks the entity id, a certificate or an address to log in");
  }
  return {
    entityId,
    signOn: {
      ...(post !== undefined && isOfTheWeb(post) ? { post } : {}),
      ...(redirect !== undefined && isOfTheWeb(redirect) ? { redirect } : {}),
    },
    certificates,
  };
}

const isOfTheWeb = (address: string): boolean =>
  ["https:", "http:"].includes(URL.parse(address)?.protocol ?? "");
