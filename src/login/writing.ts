import { isServiceEditor } from "../authz/context.ts";
import { sourceOf } from "../authz/source.ts";
import type { PageContext } from "./page-context.ts";

/** On whose behalf the login writes by itself. */
export const writing = (
  { at: { instanceId, requestId, peer }, presence }: PageContext,
  editorId: string,
) => ({
  instanceId,
  requestId,
  source: sourceOf(peer),
  presence: isServiceEditor(editorId) ? presence : { ...presence, personId: editorId },
  editorId,
  service: "login",
  clientId: "",
});
