import { objectRows, objectTable } from "../../projection/objects.ts";
import { on, onEvery, projection, toReferring } from "../../projection/projection.ts";
import type { Recorded } from "../../eventstore/event.ts";
import { deleteRows, putRow, type RowChange, updateRows } from "../../storage/row-change.ts";
import { bool, optionalInstant, optionalJson, table, text } from "../../storage/table.ts";
import { organizationEvents } from "../org/index.ts";
import { userEvents } from "../user/index.ts";
import { type MetadataSet, sessionEvents, type UserAgentSet } from "./events.ts";
import { changedMetadata } from "./session.ts";

/** `header` is JSON text, empty where the person is erased. */
export type StoredUserAgent = Pick<UserAgentSet, "ip" | "description" | "header">;

/**
 * Sessions. What has expired counts no more, whether its row is there still or not; what ended with its user expired at
 * the epoch, which is before the clock of every replica.
 */
export const sessions = objectTable(
  "sessions",
  {
    creatorId: text(),
    /** Empty while no user is known. */
    userId: text(),
    organizationId: text(),
    fingerprintId: text(),
    userAgent: optionalJson<StoredUserAgent>(),
    expiresAt: optionalInstant(),
    userCheckedAt: optionalInstant(),
    passwordCheckedAt: optionalInstant(),
    webAuthNCheckedAt: optionalInstant(),
    isUserVerified: bool(),
    intentCheckedAt: optionalInstant(),
    /** The last login with a provider whose word counted as two factors. */
    twoFactorIntentCheckedAt: optionalInstant(),
    /** The provider that its user logged in with last; empty where they did not. */
    idpId: text(),
    totpCheckedAt: optionalInstant(),
    otpSmsCheckedAt: optionalInstant(),
    otpEmailCheckedAt: optionalInstant(),
    recoveryCodeCheckedAt: optionalInstant(),
    emailCheckedAt: optionalInstant(),
    /** Since when its user trusts its browser, which spares it the second factor. */
    trustedSince: optionalInstant(),
  },
  {
    indexes: [
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "userId", "creationDate", "id"] },
      { columns: ["instanceId", "organizationId", "creationDate", "id"] },
      { columns: ["expiresAt"] },
    ],
  },
);

/** The values that others keep with a session, in base64, by name. */
export const sessionMetadata = table(
  "session_metadata",
  { instanceId: text(), sessionId: text(), name: text(), value: text(), userId: text() },
  {
    key: ["instanceId", "sessionId", "name"],
    indexes: [{ columns: ["instanceId", "userId"] }],
  },
);

const ended = { expiresAt: new Date(0) };
const erased = { fingerprintId: "", userAgent: { ip: "", description: "", header: "" } };

const { add, change: set, remove } = objectRows(sessions);

function changeMetadata(event: Recorded & { payload: MetadataSet }): RowChange[] {
  const { instanceId, aggregateId: sessionId } = event;
  const { userId = "" } = event.payload;
  return changedMetadata(event.payload).map(([name, value]) => {
    const key = { instanceId, sessionId, name };
    return value === null
      ? deleteRows(sessionMetadata, key)
      : putRow(sessionMetadata, { ...key, value, userId });
  });
}

const endThoseOfUser = toReferring(({ instanceId, aggregateId: userId }) => [
  updateRows(sessions, { instanceId, userId }, ended),
]);

/** Events by which a user has a second factor less. */
export const factorEnds = [
  "user.human.passwordless.token.removed",
  "user.human.mfa.u2f.token.removed",
  "user.human.mfa.otp.removed",
  "user.human.mfa.otp.sms.removed",
  "user.human.mfa.otp.email.removed",
  "user.human.mfa.recovery_codes.removed",
] as const;

const spareNoMore = ({ instanceId, aggregateId: userId }: Recorded) => [
  updateRows(sessions, { instanceId, userId }, { trustedSince: null }),
];

export const sessionProjection = projection(
  "sessions",
  [sessions, sessionMetadata],
  on(sessionEvents, {
    ...onEvery(sessionEvents, (event) => set(event)),
    "session.added": (event) =>
      add(event, {
        creatorId: event.editorId,
        userId: "",
        organizationId: "",
        fingerprintId: "",
        isUserVerified: false,
        idpId: "",
      }),
    "session.user_agent.set": (event) => {
      const { fingerprintId, ip, description, header } = event.payload;
      return set(event, { fingerprintId, userAgent: { ip, description, header } });
    },
    "session.user.checked": (event) => {
      const { userId, organizationId } = event.payload;
      return set(event, { userId, organizationId, userCheckedAt: event.createdAt });
    },
    "session.password.checked": (event) => set(event, { passwordCheckedAt: event.createdAt }),
    "session.webauthn.checked": (event) => {
      const { isUserVerified } = event.payload;
      return set(event, { webAuthNCheckedAt: event.createdAt, isUserVerified });
    },
    "session.intent.checked": (event) => {
      const { idpId, isSecondFactor } = event.payload;
      const both = isSecondFactor === true ? { twoFactorIntentCheckedAt: event.createdAt } : {};
      return set(event, { intentCheckedAt: event.createdAt, idpId, ...both });
    },
    "session.totp.checked": (event) => set(event, { totpCheckedAt: event.createdAt }),
    "session.otp.sms.checked": (event) => set(event, { otpSmsCheckedAt: event.createdAt }),
    "session.otp.email.checked": (event) => set(event, { otpEmailCheckedAt: event.createdAt }),
    "session.email.checked": (event) => set(event, { emailCheckedAt: event.createdAt }),
    "session.recovery_code.checked": (event) =>
      set(event, { recoveryCodeCheckedAt: event.createdAt }),
    "session.second_factor.spared": (event) =>
      set(event, { trustedSince: new Date(event.payload.since) }),
    "session.metadata.set": (event) => [...changeMetadata(event), ...set(event)],
    "session.lifetime.set": (event) =>
      set(event, { expiresAt: new Date(event.payload.expirationDate) }),
    "session.terminated": (event) => {
      const { instanceId, aggregateId: sessionId } = event;
      return [...remove(event), deleteRows(sessionMetadata, { instanceId, sessionId })];
    },
  }),
  // In the unit of what ends them: however many there are, none outlives it.
  on(userEvents, {
    "user.deactivated": endThoseOfUser,
    "user.locked": endThoseOfUser,
    // The user's key is gone: a fold would find nothing of what told of them.
    "user.removed": ({ instanceId, aggregateId: userId }) => [
      updateRows(sessions, { instanceId, userId }, { ...ended, ...erased }),
      deleteRows(sessionMetadata, { instanceId, userId }),
    ],
    "user.human.password.changed": endThoseOfUser,
    "user.human.password.removed": endThoseOfUser,
    "user.sessions.ended": endThoseOfUser,
    ...Object.fromEntries(factorEnds.map((type) => [type, spareNoMore])),
  }),
  on(organizationEvents, {
    "org.removed": ({ instanceId, aggregateId: organizationId }) => [
      updateRows(sessions, { instanceId, organizationId }, ended),
    ],
  }),
);
