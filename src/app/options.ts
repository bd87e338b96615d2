import { addressForms } from "../authz/shown-address.ts";
import { logLevels } from "../telemetry/logger.ts";
import * as type from "./option-types.ts";

/**
 * One setting of the service. Its four spellings follow from one name: `IDSVC_TLS_CERT` in the environment, `--tls-cert`
 * as a flag, `tls_cert` (or `tls: {cert: ...}`) in YAML. A secret has all of them with `_FILE` too, naming a file that
 * holds the value.
 */
export type Option<T> = {
  env: `IDSVC_${string}`;
  type: type.OptionType<T>;
  why: string;
  /** What a number counts. */
  unit?: string;
  /** The value when nobody gives one, spelled as a user would. */
  default?: string;
  /** In words, the value that other options decide when nobody gives one. */
  derived?: string;
  /** In words, what happens without a value; options that have neither of the above. */
  absent?: string;
};

/** Every option there is; the only place that knows their names, defaults, units and limits. */
export const options = {
  host: {
    env: "IDSVC_HOST",
    type: type.listenHost,
    default: "127.0.0.1",
    why: "Address to listen on. Anything but loopback asks for IDSVC_MASTER_KEY.",
  },
  port: {
    env: "IDSVC_PORT",
    type: type.int(0, 65_535),
    default: "8080",
    why: "The one port of all protocols; 0 takes a free one.",
  },
  externalUrl: {
    env: "IDSVC_EXTERNAL_URL",
    type: type.origin,
    derived: "http://localhost:<port>, https with TLS",
    why: "Where users and clients reach the service: scheme and port of every issuer, and a domain of the first instance, also where it is changed later.",
  },
  dataDir: {
    env: "IDSVC_DATA_DIR",
    type: type.path,
    default: "./data",
    why: "Folder of the SQLite file, the generated master key and bootstrap.json.",
  },
  databaseUrl: {
    env: "IDSVC_DATABASE_URL",
    type: type.database,
    derived: "idsvc.db in the data folder",
    why: "Where the data lives. PostgreSQL (14 or later) is needed for several replicas, which share this and the master key.",
  },
  masterKey: {
    env: "IDSVC_MASTER_KEY",
    type: type.key32,
    absent: "generated into the data folder",
    why: "Seals all other keys. Without it nothing sealed can be read again: keep a copy.",
  },
  masterKeyPrevious: {
    env: "IDSVC_MASTER_KEY_PREVIOUS",
    type: type.key32,
    absent: "one master key",
    why: "A second master key that opens too, while one replaces the other (idsvc keys rotate). It never seals.",
  },
  egressAllow: {
    env: "IDSVC_EGRESS_ALLOW",
    type: type.egressList,
    absent: "loopback when the external host is localhost, else nothing",
    why:
      "Exceptions from the ban on internal addresses for outgoing calls (targets, providers, mail). Entries: address or" +
      " network (10.0.0.0/8, fd00::/8), host (hooks.internal, *.internal), each with :port if on that port alone" +
      " ([fd00::/8]:8443), or *:port for a port below 1024 beside 80 and 443. A given list is the whole list.",
  },
  trustedProxies: {
    env: "IDSVC_TRUSTED_PROXIES",
    type: type.networkList,
    default: "",
    why: "Proxies whose Forwarded and X-Forwarded-* headers count. Nobody else's do.",
  },
  proxyHeaders: {
    env: "IDSVC_PROXY_HEADERS",
    type: type.oneOf("x-forwarded", "forwarded"),
    default: "x-forwarded",
    why: "Which headers the trusted proxies write. The other kind may come from a client.",
  },
  tlsCert: {
    env: "IDSVC_TLS_CERT",
    type: type.file,
    absent: "no TLS",
    why: "Certificate chain in PEM; with IDSVC_TLS_KEY.",
  },
  tlsKey: {
    env: "IDSVC_TLS_KEY",
    type: type.file,
    absent: "no TLS",
    why: "Private key of the certificate in PEM; with IDSVC_TLS_CERT.",
  },
  processes: {
    env: "IDSVC_PROCESSES",
    type: type.processes,
    derived: "1 where the external URL is on loopback, else auto",
    unit: "processes",
    why: "Processes that serve the one port together, each on a core of its own; auto takes as many as there are cores, one for each 512 MiB of memory at most, and on PostgreSQL 16 at most. On PostgreSQL each takes 5 connections or more; on SQLite one more process writes for all.",
  },
  logLevel: {
    env: "IDSVC_LOG_LEVEL",
    type: type.oneOf(...logLevels),
    default: "info",
    why: "The least important lines to log.",
  },
  bootstrapOrganization: {
    env: "IDSVC_BOOTSTRAP_ORGANIZATION",
    type: type.text(200),
    default: "idsvc",
    why: "Name of the first organization; read at the first start only.",
  },
  bootstrapAdminPassword: {
    env: "IDSVC_BOOTSTRAP_ADMIN_PASSWORD",
    type: type.secretText(/^.{8,200}$/su, "a password of 8 to 200 characters"),
    absent: "generated into bootstrap.json",
    why: "Password of the first user; read at the first start only.",
  },
  bootstrapToken: {
    env: "IDSVC_BOOTSTRAP_TOKEN",
    type: type.secretText(
      /^(?!idsvc_[a-z]+[0-9])[A-Za-z0-9._~+/-]{1,200}=*$/,
      "1 to 200 characters of a bearer token (letters, digits, - . _ ~ + /), which is none of a newer build (idsvc_pat2_...)",
    ),
    absent: "generated into bootstrap.json",
    why: "Personal access token of the first machine user; read at the first start only.",
  },
  bootstrapPrint: {
    env: "IDSVC_BOOTSTRAP_PRINT",
    type: type.bool,
    default: "true",
    why: "Print the password and the token of the first start; false where a log takes what is printed.",
  },
  systemCallers: {
    env: "IDSVC_SYSTEM_CALLERS",
    type: type.systemCallers,
    default: "{}",
    why: "Who may call the system API: name (iss and sub of the signed JWT) to public key.",
  },
  listLimitDefault: {
    env: "IDSVC_LIST_LIMIT_DEFAULT",
    type: type.int(1, 100_000),
    default: "100",
    unit: "results",
    why: "Length of a search page when the caller names none.",
  },
  listLimitMax: {
    env: "IDSVC_LIST_LIMIT_MAX",
    type: type.int(1, 100_000),
    default: "1000",
    unit: "results",
    why: "Longest search page; a caller who asks for more is refused.",
  },
  historyLimitDefault: {
    env: "IDSVC_HISTORY_LIMIT_DEFAULT",
    type: type.int(1, 100_000),
    default: "1000",
    unit: "changes",
    why: "Length of a change history when the caller names none.",
  },
  historyLimitMax: {
    env: "IDSVC_HISTORY_LIMIT_MAX",
    type: type.int(1, 100_000),
    default: "1000",
    unit: "changes",
    why: "Longest change history; a caller who asks for more is refused.",
  },
  followersPerCaller: {
    env: "IDSVC_FOLLOWERS_PER_CALLER",
    type: type.int(1, 100_000),
    default: "50",
    unit: "streams",
    why: "Streams of events that one caller may have open at once on one instance; more are refused with 429.",
  },
  followers: {
    env: "IDSVC_FOLLOWERS",
    type: type.int(1, 100_000),
    default: "500",
    unit: "streams",
    why: "Streams of events open at once in this process. Each takes a part of every commit: about 0.05 ms of a core.",
  },
  rateLimit: {
    env: "IDSVC_RATE_LIMIT",
    type: type.int(0, 1_000_000),
    default: "0",
    unit: "calls a second",
    why: "Calls each caller may make on each instance; 0 sets no limit.",
  },
  rateLimitChanges: {
    env: "IDSVC_RATE_LIMIT_CHANGES",
    type: type.int(0, 1_000_000),
    default: "0",
    unit: "calls a second",
    why: "Of these, calls that do more than read; 0 sets no limit of their own.",
  },
  rateLimitInstance: {
    env: "IDSVC_RATE_LIMIT_INSTANCE",
    type: type.int(0, 1_000_000),
    default: "0",
    unit: "calls a second",
    why: "Calls all callers of an instance together may make; system callers do not count. 0 sets no limit.",
  },
  rateLimitInstanceChanges: {
    env: "IDSVC_RATE_LIMIT_INSTANCE_CHANGES",
    type: type.int(0, 1_000_000),
    default: "0",
    unit: "calls a second",
    why: "Of these, calls that do more than read; 0 sets no limit of their own.",
  },
  budgetGuesses: {
    env: "IDSVC_BUDGET_GUESSES",
    type: type.int(0, 1_000_000),
    default: "20",
    unit: "attempts a minute",
    why: "Wrong passwords and codes of one source (an address, or the /64 of one); ten times as many an hour. 0 sets no limit; sources in private networks have fifty times as many. So for all budgets.",
  },
  budgetMessages: {
    env: "IDSVC_BUDGET_MESSAGES",
    type: type.int(0, 1_000_000),
    default: "60",
    unit: "messages an hour",
    why: "Codes and mails that one source may ask for.",
  },
  budgetRecipientMessages: {
    env: "IDSVC_BUDGET_RECIPIENT_MESSAGES",
    type: type.int(0, 1_000_000),
    default: "5",
    unit: "messages an hour",
    why: "Codes and mails that people may have sent to one address; those of administrators do not count.",
  },
  budgetSenderMessages: {
    env: "IDSVC_BUDGET_SENDER_MESSAGES",
    type: type.int(0, 1_000_000),
    default: "20",
    unit: "messages an hour",
    why: "Codes and mails that one user may have sent.",
  },
  budgetRegistrations: {
    env: "IDSVC_BUDGET_REGISTRATIONS",
    type: type.int(0, 1_000_000),
    default: "20",
    unit: "registrations an hour",
    why: "Registrations that one source may begin.",
  },
  budgetFlows: {
    env: "IDSVC_BUDGET_FLOWS",
    type: type.int(0, 1_000_000),
    default: "300",
    unit: "log-ins a minute",
    why: "Log-ins and device requests that one source may begin.",
  },
  budgetUnauthenticated: {
    env: "IDSVC_BUDGET_UNAUTHENTICATED",
    type: type.int(0, 1_000_000),
    default: "600",
    unit: "calls a minute",
    why: "Calls of one source that are refused for want of a valid token or client secret. Beyond it such calls are answered late, with 429; calls with valid credentials never are.",
  },
  budgetConnections: {
    env: "IDSVC_BUDGET_CONNECTIONS",
    type: type.int(0, 1_000_000),
    default: "256",
    unit: "connections",
    why: "Connections of one source open at once; more are closed. A trusted proxy has no such limit.",
  },
  logAddresses: {
    env: "IDSVC_LOG_ADDRESSES",
    type: type.oneOf(...addressForms),
    default: "cut",
    why: "What the log shows of clients' addresses: their network (cut: /24, /48), all (full), a digest that changes daily (hashed), nothing (off). Whole ones stand sealed in the store.",
  },
  metricsPort: {
    env: "IDSVC_METRICS_PORT",
    type: type.int(0, 65_535),
    absent: "no port of its own",
    why: "A port for /metrics with the counts of all tenants, for those who run the service alone; 0 takes a free one, which the log tells, where one process serves.",
  },
  metricsToken: {
    env: "IDSVC_METRICS_TOKEN",
    type: type.secretText(
      /^[A-Za-z0-9._~+/-]{16,200}=*$/,
      "16 to 200 characters of a bearer token (letters, digits, - . _ ~ + /)",
    ),
    absent: "/metrics on the one port tells of the process alone",
    why: "Bearer token for which /metrics tells the counts of all tenants; where set, the port of its own asks for it too.",
  },
  places: {
    env: "IDSVC_PLACES",
    type: type.file,
    absent: "addresses alone are shown",
    why: "File of places that people see beside addresses on the pages of their account: a line each, network and place with a comma between, as 203.0.113.0/24,Office in Bern.",
  },
  breachedPasswordsFile: {
    env: "IDSVC_BREACHED_PASSWORDS",
    type: type.file,
    absent: "IDSVC_BREACHED_PASSWORDS_URL, else none are known",
    why: "File of the SHA-1 digests of passwords known from breaches, for the password settings screen_passwords: a line each, in capital hex, sorted, a colon and a count behind it allowed.",
  },
  breachedPasswordsUrl: {
    env: "IDSVC_BREACHED_PASSWORDS_URL",
    type: type.httpUrl,
    absent: "IDSVC_BREACHED_PASSWORDS, else none are known",
    why: "Range API in the place of such a file, asked by the first five digits of a digest: the address before these. An internal one stands in IDSVC_EGRESS_ALLOW.",
  },
  maxMessageBytes: {
    env: "IDSVC_MAX_MESSAGE_BYTES",
    type: type.bytes(1024, 1024 ** 3),
    default: "4MiB",
    unit: "bytes",
    why: "Longest request message, unless the method names a longer one.",
  },
  callTimeoutMs: {
    env: "IDSVC_CALL_TIMEOUT",
    type: type.duration("100ms", "1h"),
    default: "30s",
    unit: "duration",
    why: "Longest unary call, unless the method names a longer one.",
  },
  shutdownTimeoutMs: {
    env: "IDSVC_SHUTDOWN_TIMEOUT",
    type: type.duration("0s", "10m"),
    default: "10s",
    unit: "duration",
    why: "How long a stop waits for calls under way.",
  },
  maxConnections: {
    env: "IDSVC_MAX_CONNECTIONS",
    type: type.int(1, 1_000_000),
    default: "10000",
    unit: "connections",
    why: "Connections open at once; more are refused. At most three quarters of the files that the process may open.",
  },
  featureMultitenancyResourcesApi: {
    env: "IDSVC_FEATURE_MULTITENANCY_RESOURCES_API",
    type: type.bool,
    default: "true",
    why: "Whether the resource API is on where no feature setting says so.",
  },
  featureMultitenancySettings: {
    env: "IDSVC_FEATURE_MULTITENANCY_SETTINGS",
    type: type.bool,
    default: "true",
    why: "Whether the language settings API is on where no feature setting says so.",
  },
  featureOidcTokenExchange: {
    env: "IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE",
    type: type.bool,
    default: "false",
    why: "Whether token exchange is on where no feature setting says so.",
  },
} as const satisfies Record<string, Option<unknown>>;

type Options = typeof options;
type ValueOf<O> = O extends { type: type.OptionType<infer T> }
  ? O extends { default: string } | { derived: string }
    ? T
    : T | undefined
  : never;

/** One exactly typed value for each option: text parsed, units fixed, defaults filled in. */
export type ConfigValues = { readonly [K in keyof Options]: ValueOf<Options[K]> };
