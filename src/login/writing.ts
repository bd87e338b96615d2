import { sourceOf } from "../authz/source.ts";
import type { Visit } from "./visit.ts";

/** On whose behalf the login writes by itself. */
export const writing = ({ at: { instanceId, requestId, peer } }: Visit, editorId: string) => ({
  instanceId,
  requestId,
  source: sourceOf(peer),
  editorId,
  service: "login",
  clientId: "",
});
