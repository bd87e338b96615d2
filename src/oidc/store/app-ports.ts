import type { FoundApp } from "../../authz/apps.ts";
import type { Awaitable } from "../../awaitable.ts";
import type { Client } from "../core/ports.ts";

/** An app as a client of OAuth. */
export type ClientApp = FoundApp & { id: string; config: ClientConfig };

/** The same object for as long as the app does not change. */
type ClientConfig =
  | { kind: "api"; api: { authMethodType: Client["authMethod"] } }
  | {
      kind: "oidc";
      oidc: OidcConfig;
      /** Of its redirects those that do not fit the type of the app, and are of no use outside of development mode. */
      refusedRedirectUris: readonly string[];
    };

type OidcConfig = Pick<
  Client,
  | "redirectUris"
  | "postLogoutRedirectUris"
  | "responseTypes"
  | "grantTypes"
  | "accessTokenType"
  | "accessTokenRoleAssertion"
  | "idTokenRoleAssertion"
  | "idTokenUserinfoAssertion"
  | "clockSkewMs"
  | "backChannelLogoutUri"
  | "strictAssertionAudience"
> & { authMethodType: Client["authMethod"]; idTokenSignedResponseAlg: string };

/** What the provider asks of apps; never older than the last write that changed any of it (B7). */
export interface ClientApps {
  byClientId(instanceId: string, clientId: string): Awaitable<ClientApp | undefined>;
  /** Whether this is the secret of the app; it takes the same time for every wrong one. */
  isSecretOf(app: { instanceId: string; appId: string }, secret: string): Awaitable<boolean>;
  /** A key of an app, also one that has ended. */
  keyOf(
    instanceId: string,
    appId: string,
    keyId: string,
  ): Promise<{ publicKey: string; expirationDate: Date | null } | undefined>;
  /** The client ids of the apps of a project: the audience of its tokens. */
  clientIdsOf(instanceId: string, projectId: string): Promise<readonly string[]>;
}

/** What the provider asks of the slice of apps. */
export type AppPorts = { clientApps: ClientApps };
