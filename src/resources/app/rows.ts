import type { Recorded } from "../../eventstore/event.ts";
import { deleteRows, insertRow, type RowChange } from "../../storage/row-change.ts";
import { instant, int, optionalInstant, table, text } from "../../storage/table.ts";
import type { AppKey, OidcConfig } from "./config.ts";
import { originOf } from "./redirect-uri.ts";

export const appKeys = table(
  "app_keys",
  {
    instanceId: text(),
    appId: text(),
    id: text(),
    publicKey: text(),
    creatorId: text(),
    creationDate: instant(),
    expirationDate: optionalInstant(),
  },
  { key: ["instanceId", "appId", "id"] },
);

/** The origins that browsers may call from for an app. They come of its redirects, or are named beside them. */
export const appOrigins = table(
  "app_origins",
  { instanceId: text(), appId: text(), source: text(), position: int(), origin: text() },
  {
    key: ["instanceId", "appId", "source", "position"],
    indexes: [{ columns: ["instanceId", "origin"] }],
  },
);

/** What tells the rows of an app in tables of what belongs to it. */
export const ofApp = ({ instanceId, aggregateId: appId }: Recorded) => ({ instanceId, appId });

/** What the configuration of an app says of its origins. */
export function originsOf(
  event: Recorded,
  { redirectUris, additionalOrigins }: Partial<OidcConfig>,
) {
  const replace = (source: string, origins: readonly (string | undefined)[]): RowChange[] => [
    deleteRows(appOrigins, { ...ofApp(event), source }),
    ...origins.flatMap((origin, position) =>
      origin === undefined
        ? []
        : [insertRow(appOrigins, { ...ofApp(event), source, position, origin })],
    ),
  ];
  return [
    ...(redirectUris === undefined ? [] : replace("redirect", redirectUris.map(originOf))),
    ...(additionalOrigins === undefined ? [] : replace("additional", additionalOrigins)),
  ];
}

/** The row of a key that an event adds. */
export function keyRow(event: Recorded & { payload: AppKey }) {
  const { keyId, publicKey, expirationDate } = event.payload;
  return insertRow(appKeys, {
    ...ofApp(event),
    id: keyId,
    publicKey,
    creatorId: event.editorId,
    creationDate: event.createdAt,
    ...(expirationDate === undefined ? {} : { expirationDate: new Date(expirationDate) }),
  });
}
