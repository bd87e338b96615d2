import type { AnyEvents, NewEvent, Recorded } from "../../eventstore/event.ts";
import { begin, on, type Projection, projection, touch } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow, type RowChange, updateRows } from "../../storage/row-change.ts";
import { instant, int64, json, type Row, table, text } from "../../storage/table.ts";
import type { ActivatedEvent, AddedEvent, ChangedEvent, ProviderEvent } from "./events.ts";
import { type MessageProviderKind, type ProviderConfig, type ProviderLevel } from "./kind.ts";

/** Providers of one kind; those of the system stand in its log. */
const tableOf = (name: string) =>
  table(
    name,
    {
      instanceId: text(),
      id: text(),
      description: text(),
      descriptionFolded: text(),
      config: json<ProviderConfig>(),
      statePolicy: text(),
      /** In the context that the provider belongs to. */
      state: text(),
      sequence: int64(),
      creationDate: instant(),
      changeDate: instant(),
    },
    {
      key: ["instanceId", "id"],
      indexes: [
        { columns: ["instanceId", "creationDate", "id"] },
        { columns: ["instanceId", "state"] },
      ],
    },
  );

export type ProviderTable = ReturnType<typeof tableOf>;
/** A row with the configuration that its kind puts into it. */
export type ProviderRow<C extends ProviderConfig> = Row<ProviderTable> & { config: C };

export const providerTable = ({ name }: Pick<MessageProviderKind<never>, "name">): ProviderTable =>
  tableOf(`${name}_providers`);

const active = "active";
const inactive = "inactive";

export function providerProjection<C extends ProviderConfig>(
  { name, secret }: MessageProviderKind<C>,
  providers: ProviderTable,
  levels: readonly (readonly [ProviderLevel, AnyEvents<ProviderEvent<C>>])[],
): Projection {
  const row = ({ instanceId, aggregateId: id }: Recorded) => ({ instanceId, id });
  const update = (event: Recorded, changes: object): RowChange[] => [
    updateRows(providers, row(event), { ...changes, ...touch(event) }),
  ];
  const described = (description: string) => ({
    description,
    descriptionFolded: caseFold(description),
  });

  const added = (event: Recorded<AddedEvent<C>>): RowChange[] => {
    const { config, description, statePolicy } = event.payload;
    const state = statePolicy === "deactivate" ? inactive : active;
    return [
      insertRow(providers, {
        ...begin(event),
        ...described(description),
        config,
        statePolicy,
        state,
      }),
    ];
  };
  const changed = (event: Recorded<ChangedEvent<C>>): RowChange[] => {
    const { config, description } = event.payload;
    return update(event, {
      ...(description === undefined ? {} : described(description)),
      ...(config === undefined ? {} : { config }),
    });
  };
  const activated = (event: Recorded<ActivatedEvent>): RowChange[] =>
    update(event, { ...event.payload, state: active });

  const reducers = (level: ProviderLevel) => {
    const prefix = `${level}.${name}.config`;
    // Each name is paired with the reducer of its event.
    return {
      [`${prefix}.added`]: added,
      [`${prefix}.changed`]: changed,
      [`${prefix}.${secret}.changed`]: (event: Recorded) => update(event, {}),
      [`${prefix}.activated`]: activated,
      [`${prefix}.deactivated`]: (event: Recorded) =>
        update(event, { statePolicy: "deactivate", state: inactive }),
      [`${prefix}.removed`]: (event: Recorded) => [deleteRows(providers, row(event))],
    } as Parameters<typeof on<NewEvent>>[1];
  };

  return projection(
    providers.name,
    [providers],
    ...levels.map(([level, events]) => on(events as AnyEvents<NewEvent>, reducers(level))),
  );
}
