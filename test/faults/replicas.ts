import { type Place, type Running, startServer } from "./server.ts";
import type { Store } from "./store.ts";

/** Several processes of the service on one store; only PostgreSQL takes more than one. Disposing kills them. */
export type Replicas = AsyncDisposable & { urls: string[]; servers: Running[] };

/** @param atOnce  all start at the same time, on whatever is there */
export async function startReplicas(store: Store, many: number, atOnce = false): Promise<Replicas> {
  const places = [store.place];
  while (places.length < many) places.push(await store.replica());
  const servers: Running[] = [];
  const kill = async () => {
    for (const server of servers) await server.kill();
  };
  const start = async (place: Place) => void servers.push(await startServer(place));
  try {
    if (atOnce) await Promise.all(places.map(start));
    else for (const place of places) await start(place);
  } catch (error) {
    await kill();
    throw error;
  }
  return { servers, urls: servers.map(({ url }) => url), [Symbol.asyncDispose]: kill };
}
