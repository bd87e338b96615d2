import type { Deps } from "../../projection/module.ts";
import { ownProjectReader } from "../../resources/instance/index.ts";
import type { ApiPower, AudienceRef } from "../core/api-ports.ts";
import { projectsIn } from "../core/scope.ts";

/** An audience as rows hold it: what was issued before there were references is strings. */
export type StoredAudience = (AudienceRef | string)[];

type Of = {
  clientId: string;
  /** It stands for a machine user. */
  isMachine: boolean;
  scope: readonly string[];
  audience: StoredAudience;
  access: ApiPower | undefined;
};

const ownProjectName = "idsvc";

/**
 * Reads an audience (J8). Of strings counts only what they cannot be by chance or by choice: the apps of the
 * instance, and projects that the scope asks for or that the token of an app names.
 */
export function audienceReader({ db, apps }: Pick<Deps, "db" | "apps">) {
  const ownProject = ownProjectReader(db);
  return async (
    instanceId: string,
    of: Of,
  ): Promise<{ audience: AudienceRef[]; access: ApiPower | undefined }> => {
    const { audience, access } = of;
    const strings = audience.filter((each) => typeof each === "string");
    const known = audience.filter((each) => typeof each !== "string");
    if (strings.length === 0) return { audience: known, access };
    const own = await ownProject(instanceId);
    const asked = projectsIn(of.scope).map((id) => (id === ownProjectName ? own : id));
    const found: AudienceRef[] = [];
    for (const id of strings) {
      if (of.isMachine && !asked.includes(id)) continue;
      if (id === own) found.push({ kind: "api", id });
      else if (of.isMachine) found.push({ kind: "project", id });
      else if ((await apps.byClientId(instanceId, id)) !== undefined) {
        found.push({ kind: "client", id });
      } else found.push({ kind: "project", id });
    }
    const reachesApi = !of.isMachine && found.some(({ kind }) => kind === "api");
    return { audience: found, access: reachesApi ? { kind: "legacy" } : undefined };
  };
}
