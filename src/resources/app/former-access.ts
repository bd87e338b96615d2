import { on, type Projection, projection } from "../../projection/projection.ts";
import { deleteRows, putRow, type RowChange } from "../../storage/row-change.ts";
import { table, text } from "../../storage/table.ts";
import { appEvents } from "./application.ts";

/** How scopes called the service's own project. */
export const ownProjectName = "idsvc";

/**
 * Whom tokens of an app were for before audiences were references: an app with the service's own project among them had
 * access to our APIs, and keeps it until it ends (decision 0088). Nothing is added by what is issued now.
 */
export const formerAudiences = table(
  "app_former_audiences",
  { instanceId: text(), clientId: text(), audience: text() },
  { key: ["instanceId", "clientId", "audience"] },
);

/** An audience of tokens or consents of before. */
export const formerAudience = (former: {
  instanceId: string;
  clientId: string;
  audience: string;
}): RowChange => putRow(formerAudiences, former);

/**
 * What apps could do before there was an access to our APIs.
 * @param former what tells of tokens and consents of before
 */
export const formerAccessProjection = (...former: ReturnType<typeof on>[]): Projection =>
  projection(
    "app_former_audiences",
    [formerAudiences],
    ...former,
    on(appEvents, {
      "project.application.api_access.changed": ({ instanceId, payload: { clientId } }) => [
        deleteRows(formerAudiences, { instanceId, clientId }),
      ],
      "project.application.removed": ({ instanceId, payload: { clientId } }) => [
        deleteRows(formerAudiences, { instanceId, clientId }),
      ],
    }),
  );
