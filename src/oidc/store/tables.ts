import type { Dependency } from "../../storage/cache-versions.ts";
import {
  type AnyTable,
  bool,
  instant,
  int,
  json,
  optionalInstant,
  optionalJson,
  optionalText,
  table,
  text,
} from "../../storage/table.ts";
import type { DeviceGrant } from "../core/device-ports.ts";
import type { ApiPower, AudienceRef } from "../core/api-ports.ts";
import type { Actor, CodeGrant, Parent } from "../core/ports.ts";
import type { StoredAudience } from "./references.ts";

/**
 * Tables with a column `part` are read on every call with a token. It holds one constant: what adds rows, or removes
 * those whose time is over, names it and disturbs no cached read; what ends rows does not name it and disturbs all.
 * Nobody asks for a row before it is there: its id or token is not to be guessed.
 */
export const onlyPart = "rows";
export const endsOf = (of: AnyTable): Dependency => ({ table: of, part: "ends" });

/** Access tokens that were issued, by the keyed digest of the whole string. A revoked one is gone. */
export const accessTokens = table(
  "access_tokens",
  {
    instanceId: text(),
    digest: text(),
    part: text(),
    id: text(),
    clientId: text(),
    userId: text(),
    /** Empty for tokens that stand for themselves. */
    oidcSessionId: text(),
    scope: json<string[]>(),
    audience: json<StoredAudience>(),
    isJwt: bool(),
    issuedAt: instant(),
    expiresAt: instant(),
  },
  {
    key: ["instanceId", "digest"],
    indexes: [{ columns: ["expiresAt"] }],
    cachedBy: "part",
  },
);

/** Whom ID tokens are for, by their `jti`, while token exchange is on: they tell their client alone. */
export const idTokens = table(
  "id_tokens",
  { instanceId: text(), id: text(), audience: json<AudienceRef[]>(), expiresAt: instant() },
  { key: ["instanceId", "id"], indexes: [{ columns: ["expiresAt"] }] },
);

/** Refresh tokens. Spent ones stay until the end of their family, to notice when they come again. */
export const refreshTokens = table(
  "refresh_tokens",
  {
    instanceId: text(),
    digest: text(),
    id: text(),
    oidcSessionId: text(),
    isSpent: bool(),
    idleExpiresAt: instant(),
    expiresAt: instant(),
  },
  {
    key: ["instanceId", "digest"],
    indexes: [{ columns: ["expiresAt"] }],
  },
);

/** Authorization codes. They stay a while beyond their end, to notice when they come again. */
export const authorizationCodes = table(
  "authorization_codes",
  {
    instanceId: text(),
    digest: text(),
    grant: json<StoredGrant>(),
    /** The OIDC session that came of it; empty while it is unused. */
    spentBy: text(),
    codeExpiresAt: instant(),
    /** From when the row counts no more. */
    expiresAt: instant(),
  },
  { key: ["instanceId", "digest"], indexes: [{ columns: ["expiresAt"] }] },
);

type Stored<T> = { [K in keyof T]: T[K] extends Date | undefined ? number | undefined : T[K] };
/** A code's grant as JSON: times are milliseconds since the epoch. */
export type StoredGrant = Stored<CodeGrant>;
export type StoredDeviceGrant = Stored<DeviceGrant>;

/** Assertions that were used, by the digest of their issuer and `jti`, until they expire. */
export const assertionIds = table(
  "assertion_ids",
  { instanceId: text(), digest: text(), expiresAt: instant() },
  { key: ["instanceId", "digest"], indexes: [{ columns: ["expiresAt"] }] },
);

/** Devices that wait to be let in (RFC 8628). */
export const deviceAuthorizations = table(
  "device_authorizations",
  {
    instanceId: text(),
    digest: text(),
    id: text(),
    userCode: text(),
    clientId: text(),
    scope: json<string[]>(),
    state: text(),
    grant: optionalJson<StoredDeviceGrant>(),
    intervalMs: int(),
    polledAt: optionalInstant(),
    expiresAt: instant(),
  },
  {
    key: ["instanceId", "digest"],
    indexes: [
      { columns: ["instanceId", "userCode"], unique: true },
      { columns: ["instanceId", "id"] },
      { columns: ["expiresAt"] },
    ],
  },
);

/** What users allowed clients, while it has not ended. Everything that is issued for it ends with its row. */
export const oidcSessions = table(
  "oidc_sessions",
  {
    instanceId: text(),
    id: text(),
    part: text(),
    clientId: text(),
    userId: text(),
    organizationId: text(),
    /** Empty where nobody logged in for it. */
    sessionId: text(),
    scope: json<string[]>(),
    audience: json<StoredAudience>(),
    access: optionalJson<ApiPower>(),
    /** It stands on a consent to our own APIs. */
    hasApiConsent: bool(),
    /** JSON text of the request for single claims. */
    claims: optionalText(),
    authTime: optionalInstant(),
    amr: json<string[]>(),
    acr: optionalText(),
    actor: optionalJson<Actor>(),
    parents: json<Parent[]>(),
    /** Whether the user logged in for it with a session: what ends with a change of their password. */
    isLogin: bool(),
    /** The identity provider that they logged in with for it; empty where they did not. */
    idpId: text(),
    expiresAt: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "userId"] },
      { columns: ["instanceId", "sessionId"] },
      { columns: ["instanceId", "clientId"] },
      { columns: ["instanceId", "organizationId"] },
      { columns: ["expiresAt"] },
    ],
    cachedBy: "part",
  },
);

/**
 * Which OIDC sessions descend from what, by token exchange: one row for each parent that has not ended. A session one of
 * whose rows is missing has ended.
 */
export const oidcLineage = table(
  "oidc_lineage",
  { instanceId: text(), oidcSessionId: text(), parentId: text(), part: text(), userId: text() },
  {
    key: ["instanceId", "oidcSessionId", "parentId"],
    indexes: [{ columns: ["instanceId", "parentId"] }, { columns: ["instanceId", "userId"] }],
    cachedBy: "part",
  },
);
