import type { JsonObject } from "@bufbuild/protobuf";
import type { Recorded } from "../../eventstore/event.ts";
import { begin, on, projection, touch } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow, type RowChange, updateRows } from "../../storage/row-change.ts";
import { instant, int64, json, table, text } from "../../storage/table.ts";
import { organizationEvents } from "../org/index.ts";
import { defineStatePolicies } from "../reuse/index.ts";
import {
  type IdpAddedEvent,
  type IdpChangedEvent,
  type IdpEvent,
  type IdpOptions,
  idpTypeOf,
  instanceIdpEvents,
  organizationIdpEvents,
} from "./events.ts";
import { idpTypes } from "./provider-types.ts";

/** What organizations decide on the providers that they inherit. */
export const idpPolicies = defineStatePolicies("org.idp", "idp_state_policies");

/** Identity providers; those of the instance itself have an empty `organizationId`. */
export const idps = table(
  "idps",
  {
    instanceId: text(),
    id: text(),
    organizationId: text(),
    type: text(),
    name: text(),
    nameFolded: text(),
    /** Of the context that it belongs to. */
    statePolicy: text(),
    options: json<IdpOptions>(),
    config: json<JsonObject>(),
    mark: text(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "nameFolded", "id"] },
      { columns: ["instanceId", "organizationId", "id"] },
    ],
  },
);

const row = ({ instanceId, aggregateId }: Recorded) => ({ instanceId, id: aggregateId });

function added(event: Recorded<IdpAddedEvent>): RowChange[] {
  const { owner } = event;
  const { hasSecret: _, ...payload } = event.payload;
  return [
    insertRow(idps, {
      ...begin(event),
      ...payload,
      mark: payload.mark ?? "",
      organizationId: owner.type === "org" ? owner.id : "",
      type: idpTypeOf(event),
      nameFolded: caseFold(payload.name),
    }),
  ];
}

function changed(event: Recorded<IdpChangedEvent>): RowChange[] {
  const { secretChanged: _, ...changes } = event.payload;
  const folded = changes.name === undefined ? {} : { nameFolded: caseFold(changes.name) };
  return [updateRows(idps, row(event), { ...changes, ...folded, ...touch(event) })];
}

const removed = (event: Recorded): RowChange[] => [deleteRows(idps, row(event))];

type Reducers = Parameters<typeof on<IdpEvent>>[1];

function ofLevel(level: "instance" | "org"): Reducers {
  const ofTypes = idpTypes.flatMap((type) => [
    [`${level}.idp.${type}.added`, added],
    [`${level}.idp.${type}.changed`, changed],
  ]);
  // Each name is paired with the reducer of its ending.
  return { ...(Object.fromEntries(ofTypes) as Reducers), [`${level}.idp.removed`]: removed };
}

export const idpProjection = projection(
  "idps",
  [idps],
  on(instanceIdpEvents, ofLevel("instance")),
  on(organizationIdpEvents, ofLevel("org")),
);

export const idpPolicyProjection = idpPolicies.projection(
  on(instanceIdpEvents, { "instance.idp.removed": idpPolicies.forgetResource }),
  on(organizationEvents, { "org.removed": idpPolicies.forgetContext }),
);
