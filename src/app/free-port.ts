import { once } from "node:events";
import { createServer } from "node:net";
import { unavailableAddress } from "../api/server.ts";
import type { Config } from "./config.ts";

/**
 * The port on which processes that serve together shall listen: no other service has it. They share it by `SO_REUSEPORT`, with which
 * the system would give it to a second service of the same user as well.
 *
 * @throws FAILED_PRECONDITION ADDRESS_UNAVAILABLE
 */
export async function freePortOf({ host, port }: Config): Promise<number> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (error) {
    throw unavailableAddress({ host, port }, error as NodeJS.ErrnoException);
  }
  const address = server.address();
  server.close();
  await once(server, "close");
  return address !== null && typeof address === "object" ? address.port : port;
}
