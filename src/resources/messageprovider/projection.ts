import type { AnyEvents, NewEvent, Recorded } from "../../eventstore/event.ts";
import { objectRows, objectTable } from "../../projection/objects.ts";
import { on, type Projection, projection } from "../../projection/projection.ts";
import { json, type Row, text } from "../../storage/table.ts";
import type { ActivatedEvent, AddedEvent, ChangedEvent, ProviderEvent } from "./events.ts";
import { type MessageProviderKind, type ProviderConfig, type ProviderLevel } from "./kind.ts";

/** Providers of one kind; those of the system stand in its log. */
export const providerTable = ({ name }: Pick<MessageProviderKind<never>, "name">) =>
  objectTable(
    `${name}_providers`,
    {
      description: text(),
      descriptionFolded: text(),
      config: json<ProviderConfig>(),
      statePolicy: text(),
      /** In the context that the provider belongs to. */
      state: text(),
    },
    {
      indexes: [
        { columns: ["instanceId", "creationDate", "id"] },
        { columns: ["instanceId", "state"] },
      ],
    },
  );

export type ProviderTable = ReturnType<typeof providerTable>;
/** A row with the configuration that its kind puts into it. */
export type ProviderRow<C extends ProviderConfig> = Row<ProviderTable> & { config: C };

export function providerProjection<C extends ProviderConfig>(
  { name, secret }: MessageProviderKind<C>,
  providers: ProviderTable,
  levels: readonly (readonly [ProviderLevel, AnyEvents<ProviderEvent<C>>])[],
): Projection {
  const { add, change, remove } = objectRows(providers);

  const reducers = (level: ProviderLevel) => {
    const prefix = `${level}.${name}.config`;
    // Each name is paired with the reducer of its event.
    return {
      [`${prefix}.added`](event: Recorded<AddedEvent<C>>) {
        const { config, description, statePolicy } = event.payload;
        const state = statePolicy === "deactivate" ? "inactive" : "active";
        return add(event, { description, config, statePolicy, state });
      },
      [`${prefix}.changed`](event: Recorded<ChangedEvent<C>>) {
        const { signingKeyRotated: _, ...changes } = event.payload;
        return change(event, changes);
      },
      [`${prefix}.${secret}.changed`]: (event: Recorded) => change(event, {}),
      [`${prefix}.activated`]: (event: Recorded<ActivatedEvent>) =>
        change(event, { ...event.payload, state: "active" }),
      [`${prefix}.deactivated`]: (event: Recorded) =>
        change(event, { statePolicy: "deactivate", state: "inactive" }),
      [`${prefix}.removed`]: remove,
    } as Parameters<typeof on<NewEvent>>[1];
  };

  return projection(
    providers.name,
    [providers],
    ...levels.map(([level, events]) => on(events as AnyEvents<NewEvent>, reducers(level))),
  );
}
