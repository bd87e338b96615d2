import { objectRows, objectTable } from "../../projection/objects.ts";
import { on, onEvery, projection } from "../../projection/projection.ts";
import type { Recorded } from "../../eventstore/event.ts";
import { caseFold } from "../../storage/case-fold.ts";
import type { RowChange } from "../../storage/row-change.ts";
import { bool, int, int64, json, optionalText, text } from "../../storage/table.ts";
import type { JsonObject } from "@bufbuild/protobuf";
import { type MarkProof, type Reach, type UserEvent, userEvents } from "./events.ts";
import { displayNameOf, firstData, firstEmail, parseData } from "./user-data.ts";

export const users = objectTable(
  "users",
  {
    organizationId: text(),
    schemaId: text(),
    schemaType: text(),
    schemaRevision: int(),
    state: text(),
    /** Whether they ever had something to log in with. */
    wasSetUp: bool(),
    username: text(),
    usernameFolded: text(),
    /** What the folded username ends in, behind its last `@`. */
    usernameDomain: optionalText(),
    /** Where in the log the username was given: who was earlier keeps what it leads to. */
    usernameAt: int64(),
    externalId: optionalText(),
    externalIdFolded: optionalText(),
    displayName: text(),
    displayNameFolded: text(),
    data: json<JsonObject>(),
    email: optionalText(),
    emailFolded: optionalText(),
    isEmailVerified: bool(),
    /** `organization` where nobody beyond it vouches for the mark; empty through the instance. */
    emailReach: text(),
    /** Where in the log it was verified: who was earlier keeps it. */
    emailVerifiedAt: int64(),
    /** What proved the mark (`MarkProof`), where that is known; empty else. */
    emailProof: text(),
    phone: optionalText(),
    isPhoneVerified: bool(),
    phoneReach: text(),
    phoneVerifiedAt: int64(),
    phoneProof: text(),
  },
  {
    indexes: [
      { columns: ["instanceId", "organizationId", "creationDate", "id"] },
      { columns: ["instanceId", "organizationId", "username", "id"] },
      { columns: ["instanceId", "state", "creationDate", "id"] },
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "changeDate", "id"] },
      { columns: ["instanceId", "username", "id"] },
      { columns: ["instanceId", "usernameFolded", "organizationId"] },
      { columns: ["instanceId", "usernameDomain", "id"] },
      { columns: ["instanceId", "externalIdFolded", "id"] },
      { columns: ["instanceId", "displayNameFolded", "id"] },
      { columns: ["instanceId", "emailFolded", "id"] },
      { columns: ["instanceId", "phone"] },
      { columns: ["instanceId", "schemaId", "creationDate", "id"] },
    ],
    countedBy: "instanceId",
  },
);

const { add: insert, change: set, remove } = objectRows(users);

type Of<T extends UserEvent["type"]> = Recorded<Extract<UserEvent, { type: T }>>;

function add(event: Of<"user.human.added" | "user.machine.added" | "user.added">): RowChange[] {
  const first = firstData(event);
  const email = firstEmail(event);
  return insert(event, {
    ...first,
    displayName: displayNameOf(first.data),
    usernameDomain: domainOfName(caseFold(first.username)),
    usernameAt: event.sequence,
    state: "active",
    wasSetUp: false,
    ...(email?.isVerified === true ? emailMark(true, { ...event, payload: {} }) : emailMark(false)),
    ...phoneMark(false),
    ...(email && { email: email.address }),
  });
}

/** What a folded username ends in, behind its last `@`; null where there is nothing of the kind. */
export function domainOfName(usernameFolded: string): string | null {
  const at = usernameFolded.lastIndexOf("@");
  return at === -1 || at === usernameFolded.length - 1 ? null : usernameFolded.slice(at + 1);
}

function changeData(
  event: Of<"user.human.profile.changed" | "user.machine.changed" | "user.changed">,
): RowChange[] {
  const data = parseData(event.payload.data);
  return set(event, { ...event.payload, data, displayName: displayNameOf(data) });
}

type Marked = Pick<Recorded, "sequence"> & { payload: Reach & MarkProof };

const emailMark = (isEmailVerified: boolean, by?: Marked) => ({
  isEmailVerified,
  emailReach: by?.payload.reach ?? "",
  emailVerifiedAt: by?.sequence ?? 0n,
  emailProof: by?.payload.proof ?? "",
});
const phoneMark = (isPhoneVerified: boolean, by?: Marked) => ({
  isPhoneVerified,
  phoneReach: by?.payload.reach ?? "",
  phoneVerifiedAt: by?.sequence ?? 0n,
  phoneProof: by?.payload.proof ?? "",
});

export const userProjection = projection(
  "users",
  [users],
  on(userEvents, {
    // Whatever happens to a user, or to what they log in with, changes them.
    ...onEvery(userEvents, (event) => set(event)),
    "user.human.added": add,
    "user.machine.added": add,
    "user.added": add,
    "user.human.profile.changed": changeData,
    "user.machine.changed": changeData,
    "user.changed": changeData,
    "user.username.changed": (event) => {
      const { username } = event.payload;
      const usernameDomain = domainOfName(caseFold(username));
      return set(event, { username, usernameDomain, usernameAt: event.sequence });
    },
    "user.external_id.changed": (event) =>
      set(event, { externalId: event.payload.externalId || null }),
    "user.deactivated": (event) => set(event, { state: "inactive" }),
    "user.reactivated": (event) => set(event, { state: "active" }),
    "user.locked": (event) => set(event, { state: "locked" }),
    "user.unlocked": (event) => set(event, { state: "active" }),
    "user.removed": remove,
    "user.human.email.changed": (event) =>
      set(event, { email: event.payload.address, ...emailMark(false) }),
    "user.human.email.verified": (event) => set(event, emailMark(true, event)),
    "user.human.phone.changed": (event) =>
      set(event, { phone: event.payload.number, ...phoneMark(false) }),
    "user.human.phone.verified": (event) => set(event, phoneMark(true, event)),
    "user.human.password.changed": (event) => set(event, { wasSetUp: true }),
    "user.human.passwordless.token.verified": (event) => set(event, { wasSetUp: true }),
    "user.human.externalidp.added": (event) => set(event, { wasSetUp: true }),
  }),
);
