import type { JsonObject } from "@bufbuild/protobuf";
import type { Recorded } from "../../../eventstore/event.ts";
import { on, onEvery, projection, touch } from "../../../projection/projection.ts";
import { deleteRows, putRow, type RowChange, updateRows } from "../../../storage/row-change.ts";
import {
  bool,
  instant,
  int,
  int64,
  json,
  optionalInstant,
  table,
  text,
} from "../../../storage/table.ts";
import { checkEvents } from "../check/events.ts";
import { userEvents } from "../events.ts";
import { onlyOne } from "./authenticators.ts";
import { effectOf } from "./events.ts";

/** What users log in with, and what of it is no secret; see `Authenticator`. */
export const userAuthenticators = table(
  "user_authenticators",
  {
    instanceId: text(),
    userId: text(),
    kind: text(),
    id: text(),
    organizationId: text(),
    isVerified: bool(),
    /** Of a password: the user must choose another one. Of what is registered by WebAuthn: it is a passkey. */
    isMarked: bool(),
    /** What the user calls it, or where one-time passwords are sent to. */
    label: text(),
    /** What it is found by: the id of a credential, of a key or of a client. */
    lookup: text(),
    /** How often a credential has signed; how many recovery codes are left. */
    number: int(),
    details: json<JsonObject>(),
    /** Who added it. */
    creatorId: text(),
    expiresAt: optionalInstant(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "userId", "kind", "id"],
    indexes: [
      { columns: ["instanceId", "kind", "lookup"] },
      { columns: ["instanceId", "kind", "id"] },
    ],
  },
);

const keyOf = ({ instanceId, aggregateId: userId }: Recorded, kind: string, id: string) => ({
  instanceId,
  userId,
  kind,
  id,
});
type Changes = Parameters<typeof updateRows<typeof userAuthenticators>>[2];
const change = (event: Recorded, kind: string, id: string, columns: Changes): RowChange[] => [
  updateRows(userAuthenticators, keyOf(event, kind, id), { ...columns, ...touch(event) }),
];

function apply(event: Recorded): RowChange[] {
  const { payload } = event;
  const effect = effectOf(event);
  if (effect === undefined) return [];
  const [kind, id] = [effect.kind, effect.id(payload)];
  if (effect.does === "verify") return change(event, kind, id, { isVerified: effect.isVerified });
  if (effect.does === "rename") return change(event, kind, id, { label: effect.label(payload) });
  if (effect.does === "remove") return [deleteRows(userAuthenticators, keyOf(event, kind, id))];
  const { isVerified = false, expirationDate } = effect.is(payload);
  return [
    putRow(userAuthenticators, {
      ...keyOf(event, kind, id),
      organizationId: event.owner.id,
      isVerified,
      isMarked: false,
      label: "",
      lookup: "",
      number: 0,
      details: {},
      creatorId: event.editorId,
      ...touch(event),
      creationDate: event.createdAt,
      ...(expirationDate === undefined ? {} : { expiresAt: new Date(expirationDate) }),
      ...effect.row(payload),
    }),
  ];
}

const signed = (event: Recorded & { payload: { webAuthNId: string; signCount: number } }) =>
  change(event, "web_authn", event.payload.webAuthNId, { number: event.payload.signCount });

export const authenticatorProjection = projection(
  "user_authenticators",
  [userAuthenticators],
  on(userEvents, {
    ...onEvery(userEvents, apply),
    "user.removed": ({ instanceId, aggregateId }: Recorded) => [
      deleteRows(userAuthenticators, { instanceId, userId: aggregateId }),
    ],
  }),
  on(checkEvents, {
    "user.human.mfa.recovery_codes.check.succeeded": (event) =>
      change(event, "recovery_codes", onlyOne, { number: event.payload.remaining }),
    "user.human.passwordless.token.signcount.changed": signed,
    "user.human.mfa.u2f.token.signcount.changed": signed,
  }),
);
