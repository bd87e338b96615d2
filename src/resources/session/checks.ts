import { isFieldSet } from "@bufbuild/protobuf";
import {
  type Checks,
  ChecksSchema,
  type CheckUser,
} from "#gen/idsvc/resources/session/v3alpha/check_pb.ts";
import { aborted, type DomainError, failedPrecondition } from "../../errors.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import { constantTime } from "../../constant-time.ts";
import type { Deps } from "../../projection/module.ts";
import { organization } from "../org/index.ts";
import { checkedNameReader, user, type UserChecks, invalidCredentials } from "../user/index.ts";
import { intentChecked, type SessionEvent, sessionEvents } from "./events.ts";
import { type Session, userFixed, userMissing } from "./session.ts";

/** What was right, to be recorded in the session. */
export type Checked = {
  /** Whom all of it is about; undefined where nothing was checked. */
  user: CheckedUser | undefined;
  isNamed: boolean;
  happened: SessionEvent[];
};

/** The session that is checked in; one that is not made yet has no state, and its id is nobody's. */
type Judged = { session: Session | undefined; sessionId: string };

type CheckedUser = { id: string; organizationId: string; version: bigint };

export type SessionChecks = ReturnType<typeof createSessionChecks>;

const field = "session.checks";
// Longer than the judging of one wrong check takes.
const refusalMs = 100;

export function createSessionChecks(deps: Deps, checks: UserChecks) {
  const idOf = checkedUser(deps);
  const { refusals } = constantTime(refusalMs);

  return {
    /**
     * Checks everything that is asked, each in a unit of its own: before the unit that changes the session. After a wrong
     * one the others are made as for nobody: that spends no code. A refusal is told of at full steps of 100 ms for each check,
     * so that its time does not tell which of them was wrong.
     *
     * @throws INVALID_ARGUMENT INVALID_CREDENTIALS
     * @throws FAILED_PRECONDITION SESSION_USER_FIXED, SESSION_USER_MISSING, PASSWORD_CHANGE_REQUIRED
     */
    async check(at: WriteContext, judged: Judged, wanted: Checks | undefined): Promise<Checked> {
      const { session } = judged;
      if (wanted === undefined || !asksAnything(wanted)) return nothing;
      const { user: name } = wanted;
      const isNamed = name !== undefined;
      if (isNamed && session?.user !== undefined) throw userFixed();
      if (!isNamed && session?.user === undefined) throw userMissing();
      const outcome = await refusals(async () => {
        const id = isNamed ? await idOf(at.instanceId, name) : session?.user?.id;
        const found = id === undefined ? undefined : await find(deps, at.instanceId, id);
        return judge(checks, at, judged, found, wanted);
      }, countOf(wanted));
      if (!outcome.isRight) throw wrongCredentials();
      if (outcome.isChangeRequired) throw passwordChangeRequired();
      return { user: outcome.user, isNamed, happened: outcome.happened };
    },

    /**
     * Makes sure that the user and their organization are at the commit as they were when the user was checked.
     *
     * @throws ABORTED USER_CHANGED, INVALID_ARGUMENT INVALID_CREDENTIALS
     */
    async hold(tx: Transaction, { id, organizationId, version }: CheckedUser): Promise<void> {
      const { version: present } = await tx.load(user, id);
      if (present !== version) {
        throw aborted("USER_CHANGED", "the user was changed while they were checked: try again");
      }
      const { state } = await tx.load(organization, organizationId);
      if (state?.state !== "active") throw wrongCredentials();
    },
  };
}

/** The id of the user whom a check names. */
export function checkedUser(deps: Pick<Deps, "db">) {
  const byName = checkedNameReader(deps);
  return async (instanceId: string, { search }: CheckUser): Promise<string | undefined> =>
    search.case === "loginName" ? byName(instanceId, search.value) : search.value;
}

async function judge(
  checks: UserChecks,
  at: WriteContext,
  { session, sessionId: loginId }: Judged,
  found: CheckedUser | undefined,
  wanted: Checks,
) {
  const { password, email, webAuthN, idpIntent, totp, otpSms, otpEmail, recoveryCode } = wanted;
  let isRight = found !== undefined;
  let checked = found;
  let isChangeRequired = false;
  const who = () => (isRight ? found?.id : undefined);
  const happened: SessionEvent[] = [];
  const take = (isThisRight: boolean, event: SessionEvent) => {
    isRight &&= isThisRight;
    happened.push(event);
  };

  if (password !== undefined) {
    const outcome = await checks.password(at, who(), password.password);
    isChangeRequired = outcome.isRight && outcome.changeRequired;
    take(outcome.isRight, sessionEvents["password.checked"]({}));
  }
  if (email !== undefined) {
    const tried = { loginId, code: email.code };
    const isThisRight = await checks.emailLogin.check(at, who(), tried);
    take(isThisRight, sessionEvents["email.checked"]({}));
  }
  if (webAuthN !== undefined) {
    const challengeId = session?.challengeId ?? "";
    const credential = webAuthN.credentialAssertionData ?? {};
    const outcome = await checks.webAuthN.check(at, who(), { challengeId, credential });
    const { webAuthNId, isUserVerified, isConfirmed } = outcome.isRight ? outcome : unknown;
    // The event of its first use is this check's own, and no change that came between.
    if (isConfirmed && checked !== undefined) {
      checked = { ...checked, version: checked.version + 1n };
    }
    take(outcome.isRight, sessionEvents["webauthn.checked"]({ webAuthNId, isUserVerified }));
  }
  if (idpIntent !== undefined) {
    const { idpIntentId: intentId, idpIntentToken: token } = idpIntent;
    const outcome = await checks.idpIntent(at, who(), { id: intentId, token });
    take(outcome.isRight, intentChecked(outcome.isRight ? outcome : noProvider));
  }
  if (totp !== undefined) {
    take(await checks.totp(at, who(), totp.code), sessionEvents["totp.checked"]({}));
  }
  // One that another session had sent is none of this one.
  const { awaits } = session ?? { awaits: { sms: false, email: false } };
  for (const [channel, given] of [
    ["sms", otpSms],
    ["email", otpEmail],
  ] as const) {
    if (given === undefined) continue;
    const tried = { channel, code: given.code };
    const isThisRight = await checks.otp.check(at, awaits[channel] ? who() : undefined, tried);
    take(isThisRight, sessionEvents[`otp.${channel}.checked`]({}));
  }
  if (recoveryCode !== undefined) {
    const isThisRight = await checks.recoveryCode(at, who(), recoveryCode.code);
    take(isThisRight, sessionEvents["recovery_code.checked"]({}));
  }
  return { isRight, isChangeRequired, user: checked, happened };
}

/** An active user of an active organization. */
async function find(
  { events, organizations }: Deps,
  instanceId: string,
  id: string,
): Promise<CheckedUser | undefined> {
  const { state, version } = await events.load(user, instanceId, id);
  if (state?.state !== "active") return undefined;
  const { organizationId } = state;
  const organizationFound = await organizations.byId(instanceId, organizationId);
  return organizationFound?.state === "active" ? { id, organizationId, version } : undefined;
}

const nothing: Checked = { user: undefined, isNamed: false, happened: [] };
const unknown = { webAuthNId: "", isUserVerified: false, isConfirmed: false };
const noProvider = { idpId: "", isSecondFactor: false };

const asksAnything = (wanted: Checks): boolean =>
  ChecksSchema.fields.some((each) => isFieldSet(wanted, each));

/** How many checks are made of what a user has. */
const countOf = (wanted: Checks): number => {
  const asked = ChecksSchema.fields.filter((each) => isFieldSet(wanted, each));
  return Math.max(asked.filter(({ localName }) => localName !== "user").length, 1);
};

const wrongCredentials = (): DomainError =>
  invalidCredentials(field, "nobody has the name, something is wrong, or it was tried too often");

const passwordChangeRequired = () =>
  failedPrecondition(
    "PASSWORD_CHANGE_REQUIRED",
    "the password is right, but the user must set another one before they go on",
  );
