import { begin, on, projection, touch } from "../../projection/projection.ts";
import type { Recorded } from "../../eventstore/event.ts";
import {
  deleteRows,
  insertRow,
  putRow,
  type RowChange,
  type RowPart,
  updateRows,
} from "../../storage/row-change.ts";
import {
  bool,
  int64,
  instant,
  optionalInstant,
  optionalJson,
  table,
  text,
} from "../../storage/table.ts";
import { organizationEvents } from "../org/index.ts";
import { userEvents } from "../user/index.ts";
import type { SessionEvent, UserAgentSet } from "./events.ts";
import { sessionEvents } from "./events.ts";
import { changedMetadata } from "./session.ts";

/** `header` is JSON text, empty where the person is erased. */
export type StoredUserAgent = Pick<UserAgentSet, "ip" | "description" | "header">;

/**
 * Sessions. What has expired counts no more, whether its row is there still or not; what ended with its user expired at
 * the epoch, which is before the clock of every replica.
 */
export const sessions = table(
  "sessions",
  {
    instanceId: text(),
    id: text(),
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
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
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

type Event = Recorded<SessionEvent>;
type Of<T extends SessionEvent["type"]> = Recorded<Extract<SessionEvent, { type: T }>>;
const row = ({ instanceId, aggregateId }: Pick<Recorded, "instanceId" | "aggregateId">) => ({
  instanceId,
  id: aggregateId,
});

const set = (event: Event, values: RowPart<typeof sessions> = {}) => [
  updateRows(sessions, row(event), { ...values, ...touch(event) }),
];

function changeMetadata(event: Of<"session.metadata.set">): RowChange[] {
  const { instanceId, aggregateId: sessionId } = event;
  const { userId = "" } = event.payload;
  return changedMetadata(event.payload).map(([name, value]) => {
    const key = { instanceId, sessionId, name };
    return value === null
      ? deleteRows(sessionMetadata, key)
      : putRow(sessionMetadata, { ...key, value, userId });
  });
}

const endThoseOfUser = ({ instanceId, aggregateId: userId }: Recorded) => [
  updateRows(sessions, { instanceId, userId }, ended),
];

const spareNoMore = ({ instanceId, aggregateId: userId }: Recorded) => [
  updateRows(sessions, { instanceId, userId }, { trustedSince: null }),
];

export const sessionProjection = projection(
  "sessions",
  [sessions, sessionMetadata],
  on(sessionEvents, {
    "session.added": (event) => [
      insertRow(sessions, {
        ...begin(event),
        creatorId: event.editorId,
        userId: "",
        organizationId: "",
        fingerprintId: "",
        isUserVerified: false,
        idpId: "",
      }),
    ],
    "session.user_agent.set": (event) => {
      const { fingerprintId, ip, description, header } = event.payload;
      return set(event, { fingerprintId, userAgent: { ip, description, header } });
    },
    "session.user.checked": (event) => {
      const { userId, organizationId } = event.payload;
      return set(event, { userId, organizationId, userCheckedAt: event.createdAt });
    },
    "session.password.checked": (event) => set(event, { passwordCheckedAt: event.createdAt }),
    "session.webauthn.challenged": (event) => set(event),
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
    "session.otp.sms.challenged": (event) => set(event),
    "session.otp.sms.checked": (event) => set(event, { otpSmsCheckedAt: event.createdAt }),
    "session.otp.email.challenged": (event) => set(event),
    "session.otp.email.checked": (event) => set(event, { otpEmailCheckedAt: event.createdAt }),
    "session.email.challenged": (event) => set(event),
    "session.email.checked": (event) => set(event, { emailCheckedAt: event.createdAt }),
    "session.recovery_code.checked": (event) =>
      set(event, { recoveryCodeCheckedAt: event.createdAt }),
    "session.second_factor.spared": (event) =>
      set(event, { trustedSince: new Date(event.payload.since) }),
    "session.metadata.set": (event) => [...changeMetadata(event), ...set(event)],
    "session.lifetime.set": (event) =>
      set(event, { expiresAt: new Date(event.payload.expirationDate) }),
    "session.token.set": (event) => set(event),
    "session.terminated": (event) => {
      const { instanceId, aggregateId: sessionId } = event;
      return [
        deleteRows(sessions, row(event)),
        deleteRows(sessionMetadata, { instanceId, sessionId }),
      ];
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
    "user.human.passwordless.token.removed": spareNoMore,
    "user.human.mfa.u2f.token.removed": spareNoMore,
    "user.human.mfa.otp.removed": spareNoMore,
    "user.human.mfa.otp.sms.removed": spareNoMore,
    "user.human.mfa.otp.email.removed": spareNoMore,
    "user.human.mfa.recovery_codes.removed": spareNoMore,
  }),
  on(organizationEvents, {
    "org.removed": ({ instanceId, aggregateId: organizationId }) => [
      updateRows(sessions, { instanceId, organizationId }, ended),
    ],
  }),
);
