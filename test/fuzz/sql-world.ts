import type { JsonObject } from "@bufbuild/protobuf";

/** Texts that spellings, alphabets, patterns and quotes make hard to compare and to order. */
export const hardTexts: readonly string[] = [
  "a",
  "A",
  "b",
  "Z",
  "_",
  "a_b",
  "a%b",
  "%",
  "a\\b",
  "\\",
  "a'b",
  '"',
  "a b",
  "--",
  "zz",
  "zy",
  "ä",
  "z",
  "ß",
  "ẞ",
  "é",
  "e\u0301x",
  "İ",
  "ı",
  "i",
  "ﬁ",
  "Σ",
  "ςx",
  "日本",
  "אב",
  "aä",
  "ab",
  "🔑",
  "\uffee",
  "\ue000",
  "ﬀ",
  "Kx",
  "٣",
  "a\u200db",
  "aſ",
  "ﬅ",
  "ŉ",
  "Ω",
  "Ǆ",
];

type Step = [path: string, body?: JsonObject];

// The instance, its organization, project, administrator and machine come first.
const made = 5;
const steps: Step[] = [];
/** Adds a step, and gives the name of what it makes. */
function add(path: string, body?: JsonObject): string {
  steps.push(body === undefined ? [path] : [path, body]);
  return `@${made + steps.length - 1}`;
}
const nth = <T>(values: readonly T[], at: number): T => values[at % values.length] as T;
const webhook = { rest_webhook: { url: "https://example.com/hook" } };
const oidc = {
  redirect_uris: ["https://rp.test/cb"],
  response_types: ["OIDC_RESPONSE_TYPE_CODE"],
  grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],
  app_type: "OIDC_APP_TYPE_WEB",
  auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
};
const schema = { type: "object", properties: { name: { type: "string", maxLength: 200 } } };

export const organizations: string[] = [];
export const projects: string[] = [];
export const users: string[] = [];
for (const [at, text] of hardTexts.entries()) {
  const ctx = () => `?ctx.org_id=${nth(organizations, at)}`;
  organizations.push(add("/organizations", { name: text }));
  const own = add(`/projects${ctx()}`, { name: text });
  projects.push(own);
  const [project, organization] = [nth(projects, at >> 1), nth(organizations, at >> 2)];
  const role = { project_id: project, key: text, display_name: nth(hardTexts, at + 3) };
  add("/project_roles", { ...role, group: nth(hardTexts, at + 1) });
  const person = { username: text, data: { given_name: nth(hardTexts, at + 7) } };
  const contact = {
    ...(at % 2 === 0
      ? { email: { address: `${at % 4 === 0 ? "A" : "a"}.${at}@example.test`, is_verified: true } }
      : {}),
    ...(at % 3 === 0 ? { phone: { number: `+4179000000${at % 10}`, is_verified: true } } : {}),
  };
  const robot = { username: text, schema_id: "machine", data: { name: nth(hardTexts, at + 5) } };
  users.push(add(`/users${ctx()}`, at % 5 === 4 ? robot : { ...person, contact }));
  const user = nth(users, at >> 1);
  add("/apps", { name: text, project_id: project, ...(at % 2 === 0 ? { oidc } : { api: {} }) });
  if (at % 3 === 0) add("/targets", { name: text, ...webhook, timeout: `${(at % 7) + 1}s` });
  if (at % 3 === 1) {
    const to = nth(organizations, at);
    const grant = add("/project_grants", {
      project_id: own,
      granted_organization_id: organization === to ? "@1" : organization,
    });
    add("/user_grants", { user_id: user, project_id: own, project_grant_id: grant });
  }
  if (at % 3 === 2) add("/user_grants", { user_id: user, project_id: own });
  add("/memberships", {
    ctx: { org_id: nth(organizations, at) },
    user_id: user,
    roles: ["ORG_OWNER"],
  });
  add("/sessions", {
    checks: { user: { user_id: nth(users, at) } },
    user_agent: { fingerprint_id: text },
    ...(at % 2 === 0 ? { lifetime: `${3_600 + at}s` } : {}),
  });
  add("/user_schemas", { type: text, schema });
  if (at % 4 === 0)
    add("/smtp_providers", { http: { url: "https://example.com" }, description: text });
  if (at % 4 === 1)
    add("/sms_providers", { http: { url: "https://example.com" }, description: text });
  if (at % 4 === 2)
    add("/idps/forge_a", { idp: { name: text }, config: { client_id: "a", client_secret: "b" } });
  if (at % 4 === 3)
    add(`/domains?ctx.org_id=${nth(organizations, at)}`, { name: `d${at}.example` });
  if (at % 5 === 0) add(`/users/${nth(users, at)}/_lock`);
  if (at % 7 === 1) add(`/users/${nth(users, at)}/_deactivate`);
  if (at % 6 === 1) add(`/projects/${nth(projects, at)}/_deactivate`);
  if (at % 8 === 3) add(`/organizations/${nth(organizations, at)}/_deactivate`);
  add(`/users/@3/metadata/key-${at}`, { value: Buffer.from(text).toString("base64") });
}

/** What is made of the two services, in this order: each of the hard texts is the name of an object of each kind. */
export const worldSteps: readonly Step[] = steps;
/** How many objects each of them has then. */
export const objects: number = made + steps.length;
