import type { WebEndpoint } from "../api/web-endpoint.ts";
import { notFound } from "../errors.ts";
import { paths } from "../login/paths.ts";
import type { Deps } from "../projection/module.ts";

type Parts = Pick<Deps, "policies" | "now">;

/** What browsers and people look for at addresses that everybody knows (RFC 8615), of the instance that was called. */
export const wellKnown = (parts: Parts): WebEndpoint[] => [
  passkeyOrigins(parts),
  securityText(parts),
  changePassword,
];

/** Where people change their password, for programs that keep passwords (W3C, A Well-Known URL for Changing Passwords). */
const changePassword: WebEndpoint = {
  path: "/.well-known/change-password",
  methods: ["GET"],
  crossOrigin: "none",
  handle: async () => ({
    status: 303,
    headers: { location: paths.accountPassword, "cache-control": "no-store" },
    body: "",
  }),
};

const dayMs = 24 * 60 * 60_000;
// Whoever finds the file elsewhere later should not believe it for ever (RFC 9116, section 2.5.5).
const securityTextDays = 90;

/**
 * Where weaknesses are reported (RFC 9116); nothing where it names no contact. What it says ends
 * within three months, and is said anew each day.
 */
function securityText({ policies, now }: Parts): WebEndpoint {
  return {
    path: "/.well-known/security.txt",
    methods: ["GET"],
    crossOrigin: "any",
    async handle(_, { instanceId, issuer }) {
      const { securityContacts, securityPolicyUrl } = await policies.security(instanceId);
      if (securityContacts.length === 0) {
        throw notFound("SECURITY_CONTACT_NOT_FOUND", "the instance names nobody who takes reports");
      }
      const today = Math.floor(now().getTime() / dayMs);
      const lines = [
        ...securityContacts.map((address) => `Contact: ${address}`),
        `Expires: ${new Date((today + securityTextDays) * dayMs).toISOString()}`,
        ...(securityPolicyUrl === "" ? [] : [`Policy: ${securityPolicyUrl}`]),
        `Canonical: ${issuer}/.well-known/security.txt`,
      ];
      const headers = {
        "content-type": "text/plain; charset=utf-8",
        "cache-control": "max-age=300",
        "x-content-type-options": "nosniff",
      };
      return { status: 200, headers, body: lines.map((line) => `${line}\n`).join("") };
    },
  };
}

/**
 * The origins whose pages may use the passkeys of the instance, as browsers ask for them (related origin
 * requests, Web Authentication Level 3 section 5.11); nothing where the instance lists none.
 */
function passkeyOrigins({ policies }: Parts): WebEndpoint {
  return {
    path: "/.well-known/webauthn",
    methods: ["GET"],
    crossOrigin: "any",
    async handle(_, { instanceId }) {
      const { relatedOrigins } = await policies.security(instanceId);
      if (relatedOrigins.length === 0) {
        throw notFound("RELATED_ORIGINS_NOT_FOUND", "the instance lists no related origins");
      }
      const headers = { "content-type": "application/json", "cache-control": "max-age=300" };
      return { status: 200, headers, body: JSON.stringify({ origins: relatedOrigins }) };
    },
  };
}
