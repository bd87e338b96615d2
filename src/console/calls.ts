import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { QueryClient } from "@tanstack/react-query";
import { wordOfReason } from "./declared/refusals.ts";
import { t } from "./page-data.ts";
import { BadRequestSchema, ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.ts";

/** What the service asks of calls by the cookie of the console. */
export const consoleHeader = "x-idsvc-console";

const asConsole: Interceptor = (next) => (request) => {
  request.header.set(consoleHeader, "1");
  return next(request);
};

export const transport = createConnectTransport({
  baseUrl: location.origin,
  useBinaryFormat: true,
  interceptors: [asConsole],
});

/** What of a refusal is shown, and what it is. */
export type Refusal = {
  message: string;
  reason: string;
  requestId: string;
  facts: Readonly<Record<string, string>>;
  violations: readonly { field: string; description: string }[];
  isForbidden: boolean;
  /** The browser is not signed in here any more. */
  isSignedOut: boolean;
  /** Whoever is signed in has to prove anew who they are. */
  isStepUp: boolean;
  /** Nothing was answered: whether the call arrived is not known. */
  isLost: boolean;
};

export function refusalOf(error: unknown): Refusal {
  const refused = ConnectError.from(error);
  const [info] = refused.findDetails(ErrorInfoSchema);
  const reason = info?.reason ?? "";
  return {
    message: refused.rawMessage,
    reason,
    requestId: refused.metadata.get("x-request-id") ?? "",
    facts: info?.metadata ?? {},
    violations: refused.findDetails(BadRequestSchema).flatMap((each) => each.fieldViolations),
    isForbidden: refused.code === Code.PermissionDenied || refused.code === Code.NotFound,
    isSignedOut: refused.code === Code.Unauthenticated && reason.startsWith("TOKEN_"),
    isStepUp: reason === "STEP_UP_REQUIRED",
    isLost: reason === "" && [Code.Unavailable, Code.Unknown].includes(refused.code),
  };
}

/** What a refusal says in the reader's language, where its reason is known there; else as the service says it. */
export const messageOf = ({ reason, message, isLost }: Refusal): string => {
  if (isLost) return t("lost");
  const word = wordOfReason(reason);
  return word === undefined ? message : t(word);
};

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // What was refused is refused again; only what did not arrive is tried once more.
      retry: (count, error) => count < 1 && ConnectError.from(error).code === Code.Unavailable,
    },
  },
});

const lastLogIn = "idsvc-console-log-in";
const soonMs = 15_000;

/** Leads to the log-in and back to this page. Not again and again, where that does not help. */
export function logIn(force = false): boolean {
  const before = Number(sessionStorage.getItem(lastLogIn));
  if (!force && Date.now() - before < soonMs) return false;
  sessionStorage.setItem(lastLogIn, String(Date.now()));
  const to = `${location.pathname}${location.search}`;
  location.assign(`/ui/console/login?${new URLSearchParams({ to })}`);
  return true;
}

/** Ends the session here and the log-in of the person in this browser. */
export async function signOut(): Promise<void> {
  const answer = await fetch("/ui/console/logout", {
    method: "POST",
    headers: { [consoleHeader]: "1" },
  });
  const { to } = (await answer.json()) as { to: string };
  location.assign(to);
}
