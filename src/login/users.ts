import type { Strength } from "../authz/step-up.ts";
import type { Deps } from "../projection/module.ts";
import { instanceFacts } from "../resources/instance/index.ts";
import { organizationNames } from "../resources/org/index.ts";
import {
  activeUserReader,
  authenticatorReader,
  loginNameReader,
  unpreparable,
  user,
  usernameReader,
  userNamesReader,
  verifiedContactReader,
} from "../resources/user/index.ts";
import { strengthsHeld } from "../resources/session/index.ts";
import type { LoginPolicy, SecondFactor } from "../settings/policy/login.ts";
import type { Factor } from "./pages/mfa.ts";
import type { Account } from "./parts/account.ts";

/** What the login asks of users and organizations. */
export type LoginUsers = {
  /**
   * Who logs in by a name: `<username>@<domain>`; the username alone within the organization that the login is bound to,
   * else within the default organization; a verified e-mail address or phone number that nobody shares.
   */
  find(
    instanceId: string,
    typed: string,
    organizationId: string | undefined,
  ): Promise<string | undefined>;
  /** Who logs in by a name, of whose contacts none counts: they are found by what is proven to reach so far alone. */
  findByName(
    instanceId: string,
    typed: string,
    organizationId: string | undefined,
  ): Promise<string | undefined>;
  /** The organization of an active user. */
  organizationOf(instanceId: string, userId: string): Promise<string | undefined>;
  /** What they are told of things by, as far as it is proven to be theirs; undefined for a machine. */
  contacts(
    instanceId: string,
    userId: string,
  ): Promise<{ email?: string; phone?: string } | undefined>;
  /** The e-mail address of somebody who has not proven that it is theirs; undefined where there is none, or they have. */
  unprovenEmail(instanceId: string, userId: string): Promise<string | undefined>;
  /** Where one-time passwords are sent to. */
  otpAddress(
    instanceId: string,
    userId: string,
    channel: "email" | "sms",
  ): Promise<string | undefined>;
  account(instanceId: string, userId: string): Promise<Account>;
  /** What an organization is called. */
  organizationName(instanceId: string, id: string): Promise<string>;
  /** What the user can authenticate with beside their password, as far as the settings let it count. */
  factors(
    instanceId: string,
    userId: string,
    allowed: readonly SecondFactor[],
  ): Promise<readonly Factor[]>;
  /** How strongly they can prove themselves, as the settings let them. */
  strengths(instanceId: string, userId: string, policy: LoginPolicy): Promise<readonly Strength[]>;
  /** Whether a browser may make a passkey for them by itself, and how strongly they can prove themselves. */
  preparation(
    instanceId: string,
    userId: string,
    policy: LoginPolicy,
  ): Promise<{ isPreparable: boolean; strengths: readonly Strength[] }>;
  /** Who has registered a passkey or a key. */
  byCredential(instanceId: string, credentialId: string): Promise<string | undefined>;
};

const kinds: readonly { setting: SecondFactor; kind: string; factor: Factor }[] = [
  { setting: "totp", kind: "totp", factor: "totp" },
  { setting: "u2f", kind: "web_authn", factor: "passkey" },
  { setting: "otp_email", kind: "otp_email", factor: "email" },
  { setting: "otp_sms", kind: "otp_sms", factor: "sms" },
  { setting: "recovery_code", kind: "recovery_codes", factor: "recovery" },
];

export function createLoginUsers(deps: Pick<Deps, "db" | "events" | "organizations">): LoginUsers {
  const { db, events } = deps;
  const activeUser = activeUserReader(deps);
  const byLoginName = loginNameReader(deps);
  const byUsername = usernameReader(db);
  const byVerifiedContact = verifiedContactReader(db);
  const names = userNamesReader(db);
  const authenticators = authenticatorReader(db);
  const instance = instanceFacts(db);
  const organizationName = organizationNames(db);

  async function findByName(instanceId: string, typed: string, organizationId: string | undefined) {
    const home = organizationId ?? (await instance(instanceId)).defaultOrganizationId;
    const [exact, atHome] = await Promise.all([
      byLoginName(instanceId, typed, organizationId),
      byUsername(instanceId, home, typed),
    ]);
    return exact ?? atHome;
  }

  return {
    findByName,

    async find(instanceId, typed, organizationId) {
      // All of them, whoever is found first: what is asked tells nothing by its time.
      const [byName, byContact] = await Promise.all([
        findByName(instanceId, typed, organizationId),
        byVerifiedContact(instanceId, typed, organizationId),
      ]);
      return byName ?? byContact;
    },

    async organizationOf(instanceId, userId) {
      return (await activeUser(instanceId, userId))?.organizationId;
    },

    async contacts(instanceId, userId) {
      const { state } = await events.load(user, instanceId, userId);
      if (state === undefined || state.schemaType === "machine") return undefined;
      const { email, phone } = state;
      return {
        ...(email?.isVerified === true ? { email: email.address } : {}),
        ...(phone?.isVerified === true ? { phone: phone.number } : {}),
      };
    },

    async unprovenEmail(instanceId, userId) {
      const { state } = await events.load(user, instanceId, userId);
      const email = state?.schemaType === "machine" ? undefined : state?.email;
      return email?.isVerified === false ? email.address : undefined;
    },

    async otpAddress(instanceId, userId, channel) {
      const { state } = await events.load(user, instanceId, userId);
      const kind = channel === "email" ? "otp_email" : "otp_sms";
      const verified = state?.authenticators.filter((one) => one.kind === kind && one.isVerified);
      return verified?.at(-1)?.address;
    },

    async account(instanceId, userId) {
      const found = await names.of(instanceId, userId);
      return { loginName: found?.loginName ?? userId, displayName: found?.displayName };
    },

    async organizationName(instanceId, id) {
      return (await organizationName(instanceId, id)).name;
    },

    async factors(instanceId, userId, allowed) {
      const rows = await authenticators.ofUser(instanceId, userId);
      const verified = new Set(rows.filter(({ isVerified }) => isVerified).map(({ kind }) => kind));
      const found = kinds.filter(
        ({ setting, kind }) => allowed.includes(setting) && verified.has(kind),
      );
      // Recovery codes alone are no second factor: they stand in for one.
      const others = found.filter(({ factor }) => factor !== "recovery");
      return others.length === 0 ? [] : found.map(({ factor }) => factor);
    },

    async strengths(instanceId, userId, policy) {
      return strengthsHeld(await authenticators.ofUser(instanceId, userId), policy);
    },

    async preparation(instanceId, userId, policy) {
      const rows = await authenticators.ofUser(instanceId, userId);
      const isPreparable = unpreparable(policy, rows) === undefined;
      return { isPreparable, strengths: strengthsHeld(rows, policy) };
    },

    async byCredential(instanceId, credentialId) {
      return (await authenticators.byLookup(instanceId, "web_authn", credentialId))?.userId;
    },
  };
}

/** As much of an address as may be shown to somebody who has proven no more than a password. */
export function masked(address: string): string {
  const at = address.lastIndexOf("@");
  return at > 0
    ? `${address.slice(0, 1)}…${address.slice(at)}`
    : `${address.slice(0, 3)} … ${address.slice(-2)}`;
}
