import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from "@tanstack/react-router";
import type { ReactNode } from "react";
import { askAhead } from "./ahead.ts";
import { Back } from "./shell/back.tsx";
import { Shell } from "./shell/shell.tsx";
import { Problem } from "./parts/problem.tsx";
import { Waiting } from "./parts/waiting.tsx";
import { type ObjectRoute, objects, type PageRoute, pages, type PageSearch } from "./routes.ts";

const names = [
  "q",
  "org",
  "state",
  "tab",
  "from",
  "to",
  "person",
  "language",
  "job",
  "request",
  "near",
] as const;
const longestText = 200;

const pageSearch = (given: Record<string, unknown>): PageSearch =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = given[name];
      return typeof value === "string" && value !== ""
        ? [[name, value.slice(0, longestText)] as const]
        : [];
    }),
  );

const root = createRootRoute({ validateSearch: pageSearch });
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  component: lazyRouteComponent(() => import("./objects/home.tsx"), "Home"),
});

const steps = createRoute({
  getParentRoute: () => shell,
  path: "/first-steps",
  component: lazyRouteComponent(() => import("./objects/home.tsx"), "FirstSteps"),
});

// Where a log-in in a window of its own ends.
const back = createRoute({ getParentRoute: () => root, path: "/back", component: Back });

const areaPages = pages.map((route) =>
  createRoute({
    getParentRoute: () => shell,
    path: route.path,
    component: lazyRouteComponent(async () => ({ default: await pageOf(route) })),
  }),
);

/** The component of a page, with what it is declared by. */
async function pageOf(route: PageRoute): Promise<() => ReactNode> {
  if (route.shows === "list") {
    const parts = import("./objects/list-page.tsx");
    const listed = await route.load();
    const { logWindow } = listed;
    if (logWindow !== undefined) {
      const { LogListPage } = await import("./objects/log-window.tsx");
      return () => <LogListPage route={route} listed={listed} size={logWindow} />;
    }
    const { ListPage } = await parts;
    return () => <ListPage route={route} listed={listed} />;
  }
  if (route.shows === "limits") {
    const { LimitsPage } = await import("./objects/limits-page.tsx");
    return () => <LimitsPage route={route} />;
  }
  if (route.shows === "transfer") {
    const { TransferPage } = await import("./objects/transfer-page.tsx");
    return () => <TransferPage route={route} />;
  }
  const parts = import("./objects/settings-page.tsx");
  const group = await route.load();
  const { SettingsPage } = await parts;
  return () => <SettingsPage route={route} group={group} />;
}

async function objectPageOf({ load }: ObjectRoute): Promise<() => ReactNode> {
  const parts = import("./objects/object-page.tsx");
  const kind = await load();
  const { ObjectPage } = await parts;
  return () => <ObjectPage kind={kind} />;
}

const objectPages = objects.map((route) =>
  createRoute({
    getParentRoute: () => shell,
    path: route.path,
    loaderDeps: ({ search: { tab } }) => ({ tab }),
    // The page does not wait for it.
    loader({ params, deps: { tab } }) {
      void askAhead(route, Reflect.get(params, "id") ?? "", tab).catch(() => undefined);
    },
    component: lazyRouteComponent(async () => ({ default: await objectPageOf(route) })),
  }),
);

export const router = createRouter({
  // What stands in the address is text: an ID of digits is no number.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch(search) {
    const given = Object.entries(search).filter(([, value]) => typeof value === "string");
    const text = new URLSearchParams(given as [string, string][]).toString();
    return text === "" ? "" : `?${text}`;
  },
  basepath: "/ui/console",
  routeTree: root.addChildren([
    shell.addChildren([home, steps, ...areaPages, ...objectPages]),
    back,
  ]),
  defaultPendingComponent: Waiting,
  defaultErrorComponent: ({ error, reset }) => <Problem error={error} retry={reset} />,
  scrollRestoration: true,
});
