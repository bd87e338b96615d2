import { pages } from "../../src/console/routes.ts";
import { declaredKinds } from "./declared.ts";
import type { ConsoleWorld } from "./world.ts";

/** Every page of the console, and every tab of the objects of every kind. */
export const addressesOf = ({ organizationId, objects }: ConsoleWorld): string[] => [
  "/",
  "/first-steps",
  ...pages.map(({ path }) => path),
  `/people?org=${organizationId}`,
  `/texts?org=${organizationId}&q=password`,
  `/settings/branding?org=${organizationId}`,
  ...declaredKinds.flatMap(({ path, kind }) => {
    const tabs = new Set(["overview", ...kind.rows.map(({ tab }) => tab), "access", "code"]);
    if (kind.guide !== undefined) tabs.add("guide");
    if (kind.history !== undefined) tabs.add("history");
    // Providers of all kinds have the same tabs, and differ in the facts.
    const shown = /^\/providers\/(?!oidc)/.test(path) ? ["overview"] : [...tabs];
    return (objects[path] ?? []).flatMap((id) =>
      shown.map((tab) => `${path.replace("$id", id)}?tab=${tab}`),
    );
  }),
];
