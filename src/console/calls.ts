import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { QueryClient } from "@tanstack/react-query";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.ts";

/** What the service asks of calls by the cookie of the console. */
const consoleHeader = "x-idsvc-console";

const asConsole: Interceptor = (next) => (request) => {
  request.header.set(consoleHeader, "1");
  return next(request);
};

export const transport = createConnectTransport({
  baseUrl: location.origin,
  useBinaryFormat: true,
  interceptors: [asConsole],
});

/** What of a refusal is shown. */
export type Refusal = { message: string; reason: string; requestId: string; isForbidden: boolean };

export function refusalOf(error: unknown): Refusal {
  const refused = ConnectError.from(error);
  const [info] = refused.findDetails(ErrorInfoSchema);
  return {
    message: refused.rawMessage,
    reason: info?.reason ?? "",
    requestId: refused.metadata.get("x-request-id") ?? "",
    isForbidden: refused.code === Code.PermissionDenied || refused.code === Code.NotFound,
  };
}

/** Whether the browser is not signed in here any more. */
export const isSignedOut = (error: unknown): boolean =>
  ConnectError.from(error).code === Code.Unauthenticated &&
  refusalOf(error).reason.startsWith("TOKEN_");

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // What was refused is refused again; only what did not arrive is tried once more.
      retry: (count, error) =>
        count < 1 && ConnectError.from(error).code === Code.Unavailable && !isSignedOut(error),
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
