import { type Running, startServer } from "./server.ts";
import type { Store } from "./store.ts";

/** Several processes of the service on one store; only PostgreSQL takes more than one. Disposing kills them. */
export type Replicas = AsyncDisposable & { urls: string[]; servers: Running[] };

export async function startReplicas(store: Store, many: number): Promise<Replicas> {
  const servers: Running[] = [];
  const kill = async () => {
    for (const server of servers) await server.kill();
  };
  try {
    for (let at = 0; at < many; at++) {
      servers.push(await startServer(at === 0 ? store.place : await store.replica()));
    }
  } catch (error) {
    await kill();
    throw error;
  }
  return { servers, urls: servers.map(({ url }) => url), [Symbol.asyncDispose]: kill };
}
