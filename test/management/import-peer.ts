import { generateKeyPairSync } from "node:crypto";
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { bodyOf, type ResourcePeer, uniqueName } from "../support/peer.ts";
import type { CallOptions } from "../support/protocols.ts";

/** PBKDF2-SHA256 of `passwordOfOld`, 1,000 rounds, made by Python's hashlib. */
export const hashOfOld =
  "$pbkdf2-sha256$1000$c2FsdHNhbHRzYWx0c2FsdA==$77F0Ffurl4/4FFWsEaKMUUy+mPIEy1sMLtMmT35JxGs=";
export const passwordOfOld = "password-of-old";

const pem = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({
  type: "spki",
  format: "pem",
});
export const publicKey = Buffer.from(pem).toString("base64");

/** A name in lower case without blanks that no other test uses. */
export const newName = (kind: string) => uniqueName(kind).replaceAll(" ", "-");

/** A person as an import brings them. */
export const human = (userId: string, more: JsonObject = {}): JsonObject => ({
  userId,
  user: {
    userName: userId,
    profile: { firstName: "Ada", lastName: "Lovelace" },
    email: { email: `${userId}@example.test`, isEmailVerified: true },
    ...more,
  },
});

/** An organization with something of every kind; ids begin with `name`. */
export function wholeOrg(name: string): JsonObject {
  const [orgId, projectId, userId] = [name, `${name}-project`, `${name}-ada`];
  const grantId = `${name}-grant`;
  const email = { email: "ada@example.test", isEmailVerified: true };
  const phone = { phone: "+41 79 123 45 67", isPhoneVerified: true };
  const profile = {
    firstName: "Ada",
    lastName: "Lovelace",
    nickName: "Addie",
    displayName: "Ada L.",
    preferredLanguage: "en",
    gender: "GENDER_FEMALE",
  };
  return {
    orgId,
    org: { name: `The ${name}` },
    domains: [{ domainName: `${name}.example`, isVerified: true, isPrimary: true }],
    passwordComplexityPolicy: { minLength: "9", hasNumber: true },
    loginPolicy: { forceMfa: true, allowRegister: false },
    lockoutPolicy: { maxPasswordAttempts: "7" },
    secondFactors: [{ type: "SECOND_FACTOR_TYPE_U2F" }, { type: "SECOND_FACTOR_TYPE_OTP" }],
    multiFactors: [{ type: "MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION" }],
    labelPolicy: { primaryColor: "#1d4ed8", themeMode: "THEME_MODE_DARK" },
    loginTexts: [
      { language: "de", texts: { "loginName.title": "Herein", "password.title": "Und?" } },
    ],
    oidcIdps: [
      {
        idpId: `${name}-oidc`,
        idp: {
          name: "Accounts",
          issuer: "https://accounts.example",
          clientId: "fleet",
          clientSecret: "never-exported",
          autoRegister: true,
        },
      },
    ],
    jwtIdps: [
      {
        idpId: `${name}-jwt`,
        idp: {
          name: "Tokens",
          issuer: "https://tokens.example",
          headerName: "x-token",
          jwtEndpoint: "https://tokens.example/login",
          keysEndpoint: "https://tokens.example/keys",
        },
        inactive: true,
      },
    ],
    projects: [{ projectId, project: { name: "Fleet", projectRoleAssertion: true } }],
    projectRoles: [{ projectId, roleKey: "driver", displayName: "Driver", group: "people" }],
    oidcApps: [
      {
        appId: `${name}-web`,
        app: {
          projectId,
          name: "Web",
          clientId: `${name}-client`,
          redirectUris: ["https://fleet.example/callback"],
          responseTypes: ["OIDC_RESPONSE_TYPE_CODE"],
          grantTypes: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],
          appType: "OIDC_APP_TYPE_USER_AGENT",
          authMethodType: "OIDC_AUTH_METHOD_TYPE_NONE",
        },
      },
    ],
    apiApps: [
      {
        appId: `${name}-api`,
        app: { projectId, name: "API", authMethodType: "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT" },
      },
    ],
    appKeys: [
      {
        id: `${name}-app-key`,
        projectId,
        appId: `${name}-api`,
        publicKey,
        expirationDate: "9999-12-31T23:59:59Z",
      },
    ],
    projectGrants: [
      { grantId, projectGrant: { projectId, grantedOrgId: orgId, roleKeys: ["driver"] } },
    ],
    humanUsers: [
      {
        userId,
        user: {
          userName: "ada",
          profile,
          email,
          phone,
          hashedPassword: { value: hashOfOld },
          otpCode: "JBSWY3DPEHPK3PXP",
        },
        externalId: "E-4711",
        metadata: [{ key: "shoe", value: "Mzg=" }],
        grants: [{ projectId, roleKeys: ["driver"] }],
        orgRoles: ["ORG_OWNER"],
      },
      human(`${name}-bob`),
    ],
    machineUsers: [
      { userId: `${name}-bot`, user: { userName: "bot", name: "The bot" }, externalId: "B-1" },
    ],
    machineKeys: [{ keyId: `${name}-key`, userId: `${name}-bot`, publicKey }],
    userMetadata: [{ userId: `${name}-bob`, key: "shoe", value: "NDQ=" }],
    userLinks: [
      {
        userId: `${name}-bob`,
        idpId: `${name}-oidc`,
        providedUserId: "b-1",
        providedUserName: "bob",
      },
    ],
    userGrants: [{ userId: `${name}-bob`, projectId, roleKeys: ["driver"] }],
    orgMembers: [{ userId: `${name}-bob`, roles: ["ORG_USER_MANAGER"] }],
    projectMembers: [{ projectId, userId: `${name}-bob`, roles: ["PROJECT_OWNER"] }],
    projectGrantMembers: [
      { projectId, grantId, userId: `${name}-bob`, roles: ["PROJECT_GRANT_OWNER"] },
    ],
  };
}

/** How many records `wholeOrg` has. */
export const recordsOfWhole = 28;

const base = "/management/v1";

/** Calls of the import, as who administers the instance unless told otherwise. */
export function importPeer(peer: ResourcePeer) {
  const { token } = peer.app;
  const call = (method: string, path: string, body?: JsonValue, options: CallOptions = {}) =>
    peer.peer.rest(method, `${base}${path}`, body, { token, ...options });

  /** Text as it stands, in pieces if there are several. */
  async function raw(body: string | Uint8Array, query = "", headers: Record<string, string> = {}) {
    const answer = await fetch(`${peer.app.url}${base}/import${query}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        host: "localhost:8080",
        "content-type": "application/json",
        ...headers,
      },
      body: body as BodyInit,
    });
    const json = Object(await answer.json());
    const [detail = {}] = Object(json).details ?? [];
    const [violation = {}] =
      Object(json).details?.flatMap(
        (each: { fieldViolations?: object[] }) => each.fieldViolations ?? [],
      ) ?? [];
    return { status: answer.status, json, reason: Object(detail).reason, violation };
  }

  async function report(id: string, query = ""): Promise<Record<string, string>[]> {
    const answer = await fetch(`${peer.app.url}${base}/import/${id}/report${query}`, {
      headers: { authorization: `Bearer ${token}`, host: "localhost:8080" },
    });
    assert.equal(answer.status, 200);
    const lines = (await answer.text()).split("\n").filter((line) => line !== "");
    return lines.map((line) => Object(JSON.parse(line)));
  }

  return {
    call,
    raw,
    report,
    bring: async (orgs: JsonValue[], query = "") =>
      bodyOf(await call("POST", `/import${query}`, { dataOrgs: { orgs } })),
    job: async (id: string) => bodyOf(await call("GET", `/import/${id}`)).job,
    /** Waits until nothing more becomes of it. */
    async ended(id: string) {
      for (;;) {
        const { job } = bodyOf(await call("GET", `/import/${id}`));
        if (!/RUNNING|RECEIVING/.test(job.state)) return job;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}
