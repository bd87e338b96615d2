const prefix = "urn:idsvc:iam:org:project:id:";
const end = ":aud";
const ownProjectName = "idsvc";

/** The projects that a scope asks tokens for: their ids, or `idsvc` for the service's own. */
export const projectsIn = (scope: readonly string[]): string[] =>
  scope
    .filter((word) => word.startsWith(prefix) && word.endsWith(end))
    .map((word) => word.slice(prefix.length, -end.length))
    .filter((id) => id !== "");

/** Whether a scope asks for the service's own APIs, by whichever name. */
export const asksForOwnApi = (scope: readonly string[], ownProjectId: string): boolean =>
  projectsIn(scope).some((id) => id === ownProjectName || id === ownProjectId);
