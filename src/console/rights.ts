import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { createContext, createElement, type ReactNode, useContext, useMemo } from "react";
import { queryClient } from "./calls.ts";
import { servicePort } from "./declared/service-port.ts";
import type { Me } from "./ports.ts";
import { type Rights, rightsOf } from "./rights-of.ts";
import type { PageSearch } from "./routes.ts";
import { usePage } from "./shell/use-page.ts";
import { needs } from "./page-data.ts";

/** Who the reader is, and what they may do somewhere. */
export type Reader = Rights & { me: Me };

const ofReader = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => servicePort.me(1000, signal),
});
const readerOf = (me: Me): Reader => ({ me, ...rightsOf(me, needs) });

/** Who the reader is, for what is asked before there is a page. */
export const readReader = async (): Promise<Reader> =>
  readerOf(await queryClient.query({ ...ofReader, staleTime: "static" }));

// Each row of a list asks what may be done with it: it is found out once.
const Reading = createContext<{ reader: Reader; org: string | undefined } | undefined>(undefined);

/** Finds out who the reader is, and where they work, for all that is in it. */
export function ForReader({ children }: { children: ReactNode }) {
  const { data: me } = useSuspenseQuery(ofReader);
  const reader = useMemo(() => readerOf(me), [me]);
  const org = useChosenOrg(reader);
  const value = useMemo(() => ({ reader, org }), [reader, org]);
  return createElement(Reading, { value }, children);
}

/**
 * The organization that is worked in: the one in the address, else the only one that the reader is bound to. What each of several has
 * is shown of the first.
 */
function useChosenOrg({ organizations, reach }: Reader): string | undefined {
  const { org }: PageSearch = useSearch({ strict: false });
  const page = usePage();
  if (org !== undefined || organizations.length === 0) return org;
  if (organizations.length === 1) return organizations[0];
  return page?.scope === "one" ? reach(page, undefined)?.org : undefined;
}

function useReading() {
  const reading = useContext(Reading);
  if (reading === undefined) throw new Error("nobody is known to read this");
  return reading;
}

/** Who the reader is, and what they may do somewhere. */
export const useRights = (): Reader => useReading().reader;

/** The organization that is worked in; none, where it is the instance. */
export const useOrg = (): string | undefined => useReading().org;
