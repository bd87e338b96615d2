import type { JsonObject } from "@bufbuild/protobuf";
import type { Recorded } from "../../eventstore/event.ts";
import { objectRows, objectTable } from "../../projection/objects.ts";
import { on, projection } from "../../projection/projection.ts";
import type { RowChange } from "../../storage/row-change.ts";
import { json, text } from "../../storage/table.ts";
import { organizationEvents } from "../org/index.ts";
import { defineStatePolicies } from "../object/reuse/policies.ts";
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
export const idps = objectTable(
  "idps",
  {
    organizationId: text(),
    type: text(),
    name: text(),
    nameFolded: text(),
    /** Of the context that it belongs to. */
    statePolicy: text(),
    options: json<IdpOptions>(),
    config: json<JsonObject>(),
    mark: text(),
  },
  {
    indexes: [
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "nameFolded", "id"] },
      { columns: ["instanceId", "organizationId", "id"] },
    ],
  },
);

const { add, change, remove } = objectRows(idps);

function added(event: Recorded<IdpAddedEvent>): RowChange[] {
  const { owner } = event;
  const { hasSecret: _, mark = "", ...payload } = event.payload;
  const organizationId = owner.type === "org" ? owner.id : "";
  return add(event, { ...payload, mark, organizationId, type: idpTypeOf(event) });
}

function changed(event: Recorded<IdpChangedEvent>): RowChange[] {
  const { secretChanged: _, ...changes } = event.payload;
  return change(event, changes);
}

type Reducers = Parameters<typeof on<IdpEvent>>[1];

function ofLevel(level: "instance" | "org"): Reducers {
  const ofTypes = idpTypes.flatMap((type) => [
    [`${level}.idp.${type}.added`, added],
    [`${level}.idp.${type}.changed`, changed],
  ]);
  // Each name is paired with the reducer of its ending.
  return { ...(Object.fromEntries(ofTypes) as Reducers), [`${level}.idp.removed`]: remove };
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
