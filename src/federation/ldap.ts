import { rootCertificates } from "node:tls";
import {
  AndFilter,
  Client,
  type Entry,
  EqualityFilter,
  InvalidCredentialsError,
  OrFilter,
  type ResultCodeError,
} from "ldapts";
import type { EgressClient } from "../egress/client.ts";
import { traced } from "../telemetry/tracing.ts";
import { markOf, said, textOf } from "./claims.ts";
import type { ExternalIdentity, LdapConfig } from "./provider.ts";
import { answerInvalid, configInvalid, providerUnavailable } from "./refusals.ts";

type Egress = Pick<EgressClient, "connect">;

/**
 * Looks a user up in a directory and proves their password by binding as them. A name and a password are values in every
 * message, never parts of a filter's text. An empty password, which directories take for an anonymous bind, is wrong.
 *
 * Source: RFC 4511, RFC 4513 section 5.1.2. Connections go by the address guard; `ldap` and `ldaps` ports are allowed.
 * @returns undefined where not exactly one entry has the name, or the password is wrong
 * @throws UNAVAILABLE IDP_UNAVAILABLE, FAILED_PRECONDITION IDP_CONFIG_INVALID, IDP_ANSWER_INVALID
 */
export async function lookUp(
  egress: Egress,
  config: LdapConfig,
  bindPassword: string | undefined,
  { username, password }: { username: string; password: string },
): Promise<ExternalIdentity | undefined> {
  if (username === "" || password === "") return undefined;
  return inDirectory(egress, config, async (open) => {
    const entry = await inSession(open, async (client) => {
      const refusal = await bind(client, config.bindDn, bindPassword ?? "");
      if (refusal !== undefined)
        throw configInvalid("the directory refuses its bind_dn or bind_password", refusal);
      return traced(searching, () => find(client, config, username));
    });
    if (entry === undefined) return undefined;
    const name = config.userBase === "dn" ? entry.dn : textIn(entry, config.userBase);
    if (name === undefined) throw answerInvalid(`the entry has no ${config.userBase}`);
    const refusal = await inSession(open, (client) => bind(client, name, password));
    return refusal === undefined ? toIdentity(config, entry) : undefined;
  });
}

const binding = { name: "LDAP bind", kind: "client" } as const;
const searching = { name: "LDAP search", kind: "client" } as const;

/** Proves a password to the directory; gives its answer where the password is wrong. */
const bind = (
  client: Client,
  name: string,
  password: string,
): Promise<InvalidCredentialsError | undefined> =>
  traced(binding, () =>
    client.bind(name, password).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof InvalidCredentialsError) return error;
        throw error;
      },
    ),
  );

type Open = () => Promise<Client>;

/** Tries the servers in turn: the next one where one does not answer. */
async function inDirectory<T>(
  egress: Egress,
  config: LdapConfig,
  work: (open: Open) => Promise<T>,
): Promise<T> {
  let failure: unknown = new Error("no servers");
  for (const server of config.servers) {
    try {
      return await work(() => connect(egress, config, server));
    } catch (error) {
      if (!isDown(error)) throw error;
      failure = error;
    }
  }
  throw providerUnavailable(failure);
}

/** Whether another server might do better. What is wrong with the configuration, or with an entry, is so everywhere. */
const isDown = (error: unknown): boolean =>
  !(error instanceof Error && "reason" in error && String(error.reason).startsWith("IDP_"));

async function connect(egress: Egress, config: LdapConfig, server: string): Promise<Client> {
  const url = new URL(server);
  const tls = url.protocol === "ldaps:";
  const port = Number(url.port || (tls ? 636 : 389));
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const { timeoutMs, rootCa } = config;
  const ca = rootCa === undefined ? [...rootCertificates] : [rootCa];
  const socket = await egress.connect({ host, port, tls, ports: [389, 636], ca }, { timeoutMs });
  const client = new Client({
    // The connection stands already: how it is encrypted is no matter of the library.
    url: `ldap://${url.host}`,
    timeout: timeoutMs,
    connectTimeout: timeoutMs,
    createConnection: () => socket,
  });
  if (config.startTls && !tls) {
    await client.startTLS({
      ca,
      servername: host,
      minVersion: "TLSv1.2",
      rejectUnauthorized: true,
    });
  }
  return client;
}

async function inSession<T>(open: Open, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await open();
  try {
    return await work(client);
  } finally {
    await client.unbind().catch(() => {});
  }
}

/** The one entry that has the name. */
async function find(
  client: Client,
  config: LdapConfig,
  username: string,
): Promise<Entry | undefined> {
  const classes = config.userObjectClasses.map(
    (value) => new EqualityFilter({ attribute: "objectClass", value }),
  );
  const names = config.userFilters.map(
    (attribute) => new EqualityFilter({ attribute, value: username }),
  );
  const { searchEntries } = await client
    .search(config.baseDn, {
      scope: "sub",
      filter: new AndFilter({ filters: [...classes, new OrFilter({ filters: names })] }),
      sizeLimit: 2,
      attributes: ["*", ...Object.values(config.attributes)],
    })
    .catch((error: unknown) => {
      // More than two: nobody can tell which is meant.
      if ((error as ResultCodeError).code === sizeLimitExceeded) return { searchEntries: [] };
      throw error;
    });
  return searchEntries.length === 1 ? searchEntries[0] : undefined;
}
const sizeLimitExceeded = 4;

function textIn(entry: Entry, attribute: string | undefined): string | undefined {
  if (attribute === undefined) return undefined;
  const key = Object.keys(entry).find((name) => name.toLowerCase() === attribute.toLowerCase());
  const value = key === undefined ? undefined : entry[key];
  const [first] = Array.isArray(value) ? value : [value];
  return textOf(Buffer.isBuffer(first) ? first.toString("utf8") : first);
}

function toIdentity({ attributes }: LdapConfig, entry: Entry): ExternalIdentity {
  const of = (name: keyof typeof attributes) => textIn(entry, attributes[name]);
  const id = of("id");
  if (id === undefined) throw answerInvalid(`the entry has no ${attributes.id}`);
  const isTrue = (value: string | undefined) => markOf(value, value?.toUpperCase() === "TRUE");
  const { userPassword: _, ...shown } = entry;
  return {
    id,
    ...said({
      username: of("username"),
      email: of("email"),
      firstName: of("firstName"),
      lastName: of("lastName"),
      displayName: of("displayName"),
      nickName: of("nickName"),
      preferredLanguage: of("preferredLanguage"),
      phone: of("phone"),
      avatarUrl: of("avatarUrl"),
      profile: of("profile"),
    }),
    ...said({
      isEmailVerified: isTrue(of("isEmailVerified")),
      isPhoneVerified: isTrue(of("isPhoneVerified")),
    }),
    raw: toJson(shown),
  };
}

/** As JSON: bytes in base64. */
const toJson = (entry: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(entry).map(([name, value]) => {
      const of = (one: unknown) => (Buffer.isBuffer(one) ? one.toString("base64") : one);
      return [name, Array.isArray(value) ? value.map(of) : of(value)];
    }),
  );
