import type { EgressClient } from "../egress/client.ts";
import { createDocuments } from "./documents.ts";
import type { Parts } from "./oidc.ts";
import type {
  Answer,
  Begin,
  Connector,
  ExternalIdentity,
  Kept,
  LdapConfig,
  Provider,
  SamlConfig,
  Way,
} from "./provider.ts";
import { answerInvalid, configInvalid } from "./refusals.ts";

export type * from "./provider.ts";
export { callbackPath, jwtPath } from "./paths.ts";

/** Logins with providers of whatever protocol. It stores nothing; what it remembers are documents of providers. */
export interface Federation {
  /** Where to send a browser, and what its answer is judged by. @throws IDP_UNAVAILABLE, IDP_CONFIG_INVALID */
  begin(provider: Provider, wanted: Begin): Promise<{ way: Way; kept: Kept }>;
  /** Who came back. @throws IDP_ANSWER_INVALID, IDP_DENIED, IDP_UNAVAILABLE, IDP_CONFIG_INVALID */
  finish(provider: Provider, answer: Answer, kept: Kept): Promise<ExternalIdentity>;
  /** Who has this name and password in a directory; undefined for nobody. @throws IDP_UNAVAILABLE */
  lookUp(
    provider: Provider & { config: LdapConfig },
    tried: { username: string; password: string },
  ): Promise<ExternalIdentity | undefined>;
  /** What a provider of SAML must know of us, as XML. */
  metadata(provider: Provider & { config: SamlConfig }, baseUrl: string): Promise<string>;
}

export function createFederation({
  egress,
  now,
}: {
  egress: Pick<EgressClient, "call" | "connect">;
  now: () => Date;
}): Federation {
  const parts: Parts = { egress, documents: createDocuments(egress, now), now };

  // Each protocol is loaded by the first login that speaks it: libraries are half of the memory of a start.
  async function connectorOf({ id, config, secret }: Provider): Promise<Connector> {
    switch (config.type) {
      case "oidc":
        return (await import("./oidc.ts")).oidcConnector(parts, config, secret);
      case "oauth":
        return (await import("./oauth.ts")).oauthConnector(parts, config, secret);
      case "jwt":
        return (await import("./jwt.ts")).jwtConnector(parts, config);
      case "saml":
        return (await import("./saml.ts")).samlConnector(parts, { id, config, secret });
      case "ldap":
        throw configInvalid("a directory is asked with a name and a password");
      default:
        return (await import("./brands.ts")).brandConnector(parts, config, secret);
    }
  }

  return {
    begin: async (provider, wanted) => (await connectorOf(provider)).begin(wanted),
    finish: async (provider, answer, kept) =>
      storable(await (await connectorOf(provider)).finish(answer, kept)),
    async lookUp({ config, secret }, tried) {
      const { lookUp } = await import("./ldap.ts");
      const found = await lookUp(egress, config, secret, tried);
      return found && storable(found);
    },
    async metadata({ id, config, secret }, baseUrl) {
      const { samlMetadata } = await import("./saml.ts");
      return samlMetadata({ id, config, secret }, baseUrl);
    },
  };
}

const longestId = 200;

/** A longer name for good could not be linked: cutting it could make two users one. */
function storable(identity: ExternalIdentity): ExternalIdentity {
  if (identity.id.length > longestId) {
    throw answerInvalid(`what it knows the user by is longer than ${longestId} characters`);
  }
  return identity;
}
