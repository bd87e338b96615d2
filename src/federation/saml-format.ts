import type { SamlConfig } from "./provider.ts";

/** A provider as we know it. */
export type Own = { id: string; config: SamlConfig; secret: string | undefined };

/** What an assertion that was proven says of the user. */
export type Asserted = {
  nameId: string;
  nameIdFormat: string | undefined;
  attributes: Record<string, unknown>;
};

/** How an assertion may name a user (SAML core 2.0, section 8.3). */
export const formats: Record<SamlConfig["nameIdFormat"], string> = {
  email_address: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
  persistent: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
  transient: "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
};
