import type { UserDeps } from "./ports.ts";
import type { JsonObject } from "@bufbuild/protobuf";
import { invalidField } from "../../errors.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { requireOrganization } from "../org/index.ts";
import { inUnit, type UserInUnit } from "./change.ts";
import { changeContact, type ContactKind } from "./contact.ts";
import { channelOf, invite, issueCode } from "./contact-change.ts";
import { createCredentials } from "./credentials.ts";
import { type Reach, userEvents } from "./events.ts";
import { settingOf } from "./password/set.ts";
import { requirePerson } from "./person.ts";
import { addUser, changeExternalId, type User, user } from "./user.ts";

/** A person to add, as whoever may write users describes them. */
export type NewHuman = {
  userId?: string;
  username: string;
  /** What another system calls them. */
  externalId?: string | undefined;
  /** By the schema `human`. */
  data: JsonObject;
  email?: { address: string; isVerified: boolean } | undefined;
  phone?: { address: string; isVerified: boolean } | undefined;
  /** How far the word of whoever adds them reaches, for contacts that are called verified. */
  vouched: Reach;
  /** In clear, or as another system's hash. */
  password?:
    | {
        type: { case: "password" | "hash"; value: string };
        changeRequired: boolean;
        fields: { password: string; hash: string };
      }
    | undefined;
  /** The secret of an app that makes one-time passwords, in Base32. */
  totpSecret?: string | undefined;
  /** Codes in clear, each of which counts once as a second factor. */
  recoveryCodes?: readonly string[];
  /** They are given another way in than a password: nobody invites them to set one. */
  hasOtherWay?: boolean;
  /** Nothing is sent to them: whoever brings many people tells them without the service. */
  isSilent?: boolean;
};

/**
 * Adds a person with their contacts and their credentials, in the caller's unit: all of it or nothing. Who has no password is
 * invited by mail to set one; another address that is not known to be theirs is sent its code. Call `prepare` once, and what it
 * gives in every try of the unit.
 *
 * @throws ALREADY_EXISTS USERNAME_TAKEN
 * @throws INVALID_ARGUMENT PASSWORD_POLICY, RECOVERY_CODE_INVALID and what hashes are refused for
 */
export function humanAdder(deps: UserDeps) {
  const credentials = createCredentials(deps);
  const { codes, totps, recoveryCodes } = credentials;
  const { newId, userSchemas } = deps;

  return function prepare(instanceId: string, human: NewHuman) {
    const { password, recoveryCodes: recovery = [] } = human;
    recovery.forEach(requireRecoveryCode);
    const setting = password && settingOf(credentials, instanceId, password, password.fields);

    return async (tx: Transaction, organizationId: string): Promise<Loaded<User | undefined>> => {
      await requireOrganization(tx, organizationId);
      const data = await userSchemas.first(tx, "human", human.data);
      const loaded =
        human.userId === undefined ? tx.begin(user, newId()) : await tx.load(user, human.userId);
      const wanted = { ...data, organizationId, username: human.username };
      tx.record(user, loaded, addUser(loaded, wanted), { type: "org", id: organizationId });
      const one = inUnit(tx, loaded);
      const { ref, record } = one;
      if (human.externalId !== undefined) {
        record(changeExternalId(loaded.state, human.externalId));
      }
      if (human.email !== undefined) await addContact(one, "email", human.email);
      if (human.phone !== undefined) await addContact(one, "phone", human.phone);
      requirePerson(loaded.state);
      if (setting !== undefined) {
        await setting.check(loaded.state);
        await setting.set(one);
      }
      if (human.totpSecret !== undefined) {
        const totpId = newId();
        tx.write(await totps.keep(ref, totpId, human.totpSecret, tx.now));
        record([
          userEvents["human.mfa.otp.added"]({ totpId }),
          userEvents["human.mfa.otp.verified"]({ totpId }),
        ]);
      }
      if (recovery.length > 0) {
        const rows = await recoveryCodes.keep(ref, recovery, tx.now);
        tx.write(...rows);
        record([userEvents["human.mfa.recovery_codes.added"]({ count: rows.length })]);
      }
      return loaded;
    };

    async function addContact(
      one: UserInUnit,
      kind: ContactKind,
      contact: { address: string; isVerified: boolean },
    ): Promise<void> {
      one.record(changeContact(one.loaded.state, kind, { ...contact, ...human.vouched }));
      if (human.isSilent) return;
      if (kind === "email" && setting === undefined && human.hasOtherWay !== true)
        return invite(codes, one);
      if (contact.isVerified) return;
      const delivery = { channel: channelOf[kind] };
      const { address } = contact;
      await issueCode(codes, one, kind, { address, delivery, reach: undefined });
    }
  };
}

const shortestRecoveryCode = 8;

function requireRecoveryCode(code: string, at: number): void {
  if (code.replaceAll(/[^A-Za-z0-9]/g, "").length >= shortestRecoveryCode) return;
  throw invalidField(
    `recovery_codes[${at}]`,
    "RECOVERY_CODE_INVALID",
    `must have ${shortestRecoveryCode} letters and digits or more, in clear: a hash cannot be taken`,
  );
}
