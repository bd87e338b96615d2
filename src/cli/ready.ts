import { type Context, configOf, exitCodes, print } from "./context.ts";

const patienceMs = 5_000;

export async function readyCommand(context: Context): Promise<number> {
  const { host, port, tlsCert } = configOf(context);
  const scheme = tlsCert === undefined ? "http" : "https";
  const url = `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}/readyz`;
  const status = await fetch(url, { signal: AbortSignal.timeout(patienceMs) }).then(
    (answer) => answer.status,
    () => 0,
  );
  const isReady = status === 200;
  const why = status === 0 ? "nothing answers" : `answers ${status}`;
  print(
    context,
    { ready: isReady, url, status },
    isReady ? `ready: ${url}` : `not ready: ${url} ${why}`,
  );
  return isReady ? exitCodes.done : exitCodes.no;
}
