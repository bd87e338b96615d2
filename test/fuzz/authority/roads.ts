import type { Step } from "./action.ts";

/** A ruling, and the steps by which somebody without power gets what it keeps from them. */
export type Road = { ruling: string; role: string; steps: readonly Step[] };

/**
 * One road for each ruling: where the ruling is replaced by what lets pass it leads to power that nobody gave, in the shipped
 * program it leads nowhere. Found by the search, and shortened.
 */
export const roads: readonly Road[] = [
  {
    ruling: "J1",
    role: "ORG_USER_MANAGER",
    steps: [
      {
        at: 1,
        do: "addToken",
        with: {
          path: "/users/{{user engine}}/personal_access_tokens",
          body: {},
          of: "user",
          by: "{{token of robot}}",
        },
      },
    ],
  },
  {
    ruling: "J1a",
    role: "ORG_SETTINGS_MANAGER",
    steps: [
      {
        at: 1,
        do: "moveProvider",
        with: {
          path: "/idps/forge_b/{{idp provider}}",
          method: "PATCH",
          body: {
            config: {
              issuer: "{{issuer of attacker}}",
              client_id: "{{client at attacker}}",
              client_secret: "{{secret at attacker}}",
            },
          },
          of: "idp",
          by: "{{token of robot}}",
        },
      },
      {
        at: 2,
        do: "logInByProvider",
        with: { idp: "{{idp provider}}", subject: "subject-linked", email: "{{mail linked}}" },
      },
    ],
  },
  {
    ruling: "J2",
    role: "ORG_OWNER",
    steps: [
      {
        at: 1,
        do: "changeRoles",
        with: {
          path: "/memberships/{{membership robot ORG_OWNER}}",
          method: "PATCH",
          body: { roles: ["ORG_OWNER", "SELF_MANAGEMENT_GLOBAL"] },
          of: "membership",
          by: "{{token of robot}}",
        },
      },
    ],
  },
  {
    ruling: "J4",
    role: "nobody",
    steps: [
      {
        at: 1,
        do: "visit",
        with: {
          person: "chief",
          client_id: "{{client evil alpha}}",
          redirect_uri: "https://attacker.test/cb",
          scope: "openid urn:idsvc:iam:org:project:id:idsvc:aud",
          choice: "own",
        },
      },
      {
        at: 2,
        do: "redeemCode",
        with: {
          code: "{{1.authorization_code}}",
          client_id: "{{client evil alpha}}",
          client_secret: "{{client secret evil alpha}}",
        },
      },
    ],
  },
  {
    ruling: "J4a",
    role: "PROJECT_OWNER",
    steps: [
      {
        at: 1,
        do: "visit",
        with: {
          person: "chief",
          client_id: "{{client evil alpha}}",
          redirect_uri: "https://attacker.test/cb",
          scope: "openid urn:idsvc:iam:org:project:id:idsvc:aud",
          choice: "organization",
        },
      },
      {
        at: 2,
        do: "redeemCode",
        with: {
          code: "{{1.authorization_code}}",
          client_id: "{{client evil alpha}}",
          client_secret: "{{client secret evil alpha}}",
        },
      },
      {
        at: 3,
        do: "setPassword",
        with: {
          path: "/users/{{user chief}}/password",
          method: "POST",
          of: "user",
          by: "{{2.access_token}}",
          body: { password: "{{password fresh}}" },
        },
      },
      {
        at: 4,
        do: "logIn",
        with: { login_name: "{{login name chief}}", password: "{{password fresh}}" },
      },
    ],
  },
  {
    ruling: "J5",
    role: "nobody",
    steps: [
      {
        at: 1,
        do: "visit",
        with: {
          person: "boss",
          client_id: "{{client evil beta}}",
          redirect_uri: "https://attacker.test/cb",
          scope: "openid email",
          choice: "own",
        },
      },
      {
        at: 2,
        do: "redeemCode",
        with: {
          code: "{{1.authorization_code}}",
          client_id: "{{client evil beta}}",
          client_secret: "{{client secret evil beta}}",
        },
      },
    ],
  },
  {
    ruling: "J6",
    role: "nobody",
    steps: [
      {
        at: 1,
        do: "visit",
        with: {
          person: "walter",
          client_id: "{{client evil alpha}}",
          redirect_uri: "https://attacker.test/cb",
          scope: "openid",
          choice: "own",
        },
      },
      {
        at: 2,
        do: "redeemCode",
        with: {
          code: "{{1.authorization_code}}",
          client_id: "{{client evil alpha}}",
          client_secret: "{{client secret evil alpha}}",
        },
      },
      {
        at: 3,
        do: "exchange",
        with: {
          client_id: "{{client evil alpha}}",
          client_secret: "{{client secret evil alpha}}",
          subject_token: "{{2.access_token}}",
          subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
          scope: "openid email",
        },
      },
    ],
  },
  {
    ruling: "J7",
    role: "ORG_USER_MANAGER",
    steps: [
      {
        at: 1,
        do: "makeMachine",
        with: {
          path: "/users?ctx.org_id={{organization alpha}}",
          method: "POST",
          of: "user",
          by: "{{token of robot}}",
          body: {
            user_id: "system:operator",
            username: "x",
            schema_id: "machine",
            data: { name: "x" },
          },
        },
      },
    ],
  },
  {
    ruling: "J8",
    role: "nobody",
    steps: [
      {
        at: 1,
        do: "visit",
        with: {
          person: "wanda",
          client_id: "{{client evil beta}}",
          redirect_uri: "https://attacker.test/cb",
          scope: "openid urn:idsvc:iam:org:project:id:{{project home}}:aud",
          choice: "own",
        },
      },
      {
        at: 2,
        do: "redeemCode",
        with: {
          code: "{{1.authorization_code}}",
          client_id: "{{client evil beta}}",
          client_secret: "{{client secret evil beta}}",
        },
      },
    ],
  },
  {
    ruling: "J9",
    role: "nobody",
    steps: [
      {
        at: 1,
        do: "setMail",
        with: {
          path: "/users/{{user attacker}}/email",
          method: "PUT",
          of: "user",
          by: "{{token of attacker}}",
          body: { address: "{{mail chief}}", is_verified: true },
        },
      },
    ],
  },
  {
    ruling: "J10",
    role: "ORG_OWNER",
    steps: [
      {
        at: 1,
        do: "claimDomain",
        with: {
          path: "/domains?ctx.org_id={{organization alpha}}",
          method: "POST",
          of: "domain_object",
          by: "{{token of robot}}",
          body: { name: "corp.test", validation_type: "DOMAIN_VALIDATION_TYPE_DNS" },
        },
      },
      {
        at: 2,
        do: "proveDomain",
        with: {
          path: "/domains/{{1.details.id}}/_validate",
          method: "POST",
          of: "domain_object",
          by: "{{token of robot}}",
          body: {},
        },
      },
    ],
  },
  {
    ruling: "J11",
    role: "IAM_LOGIN_CLIENT",
    steps: [
      {
        at: 1,
        do: "openSession",
        with: {
          path: "/sessions",
          method: "POST",
          of: "session",
          by: "{{token of robot}}",
          body: {
            checks: {
              user: { login_name: "{{login name boss}}" },
              password: { password: "{{password of boss}}" },
            },
          },
        },
      },
    ],
  },
  {
    ruling: "J16",
    role: "ORG_OWNER",
    steps: [
      {
        at: 1,
        do: "loosen",
        with: {
          path: "/settings/v3alpha/login?ctx.org_id={{organization alpha}}",
          method: "PATCH",
          of: "settings",
          by: "{{token of robot}}",
          body: { session_lifetime: { set: "864000s" } },
        },
      },
    ],
  },
  {
    ruling: "J19",
    role: "PROJECT_OWNER",
    steps: [
      { at: 1, do: "takeApp", with: { app: "{{app trusted}}", by: "{{token of robot}}" } },
      {
        at: 2,
        do: "visit",
        with: {
          person: "chief",
          client_id: "{{client trusted}}",
          redirect_uri: "https://attacker.test/cb",
          scope: "openid urn:idsvc:iam:org:project:id:idsvc:aud",
          choice: "own",
        },
      },
      {
        at: 3,
        do: "redeemCode",
        with: {
          code: "{{2.authorization_code}}",
          client_id: "{{client trusted}}",
          client_secret: "{{1.client_secret}}",
        },
      },
    ],
  },
  {
    ruling: "J20",
    role: "ORG_USER_MANAGER",
    steps: [
      {
        at: 1,
        do: "addToken",
        with: {
          path: "/users/{{user cog}}/personal_access_tokens",
          method: "POST",
          of: "user",
          by: "{{token of robot}}",
          body: {},
        },
      },
      { at: 2, do: "promote", with: { user: "cog", role: "ORG_OWNER" } },
    ],
  },
  {
    ruling: "L2",
    role: "nobody",
    steps: [
      { at: 1, do: "useCookie", with: { client: "account" } },
      {
        at: 2,
        do: "setUpTotp",
        with: { user: "{{user careless}}", by: "{{1.access_token}}" },
      },
    ],
  },
];
