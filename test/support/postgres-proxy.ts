import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

type CutWhen = "before" | "after" | "swallow" | "late";

/** Stands between the service and PostgreSQL, and does what networks do. */
export type Proxy = AsyncDisposable & {
  url: string;
  /**
   * From now on, a connection that sends this text is cut: before it arrives, or when its answer comes; or it stays open
   * and the answer is swallowed with all that follows, or comes late: when `release` is called.
   */
  cut(when: CutWhen, text: string, times?: number): void;
  release(): void;
  /** How often it was cut, or an answer swallowed. */
  readonly cuts: number;
  /** Nothing passes any more, either way; connections stay open. */
  hole(isHole: boolean): void;
  /** New connections go to this server, and the open ones are cut. */
  lead(databaseUrl: string): void;
  /** New connections are refused, and the open ones cut. */
  shut(isShut: boolean): void;
};

export async function startProxy(databaseUrl: string): Promise<Proxy> {
  const { pathname, username } = new URL(databaseUrl);
  let path = socketOf(databaseUrl);
  const open = new Set<Socket>();
  let rule: { when: CutWhen; text: string; left: number } | undefined;
  let cuts = 0;
  const late: (() => void)[] = [];
  let isHole = false;
  let isShut = false;

  const server = createServer((client) => {
    if (isShut) return void client.destroy();
    const upstream = connect(path);
    let isDoomed = false;
    let isMute = false;
    let isLate = false;
    let isSwallowed = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
      open.delete(client);
    };
    open.add(client);
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    client.on("data", (bytes: Buffer) => {
      if (isHole) return;
      if (rule !== undefined && rule.left > 0 && bytes.includes(rule.text)) {
        rule.left -= 1;
        if (rule.when === "before") {
          cuts += 1;
          return end();
        }
        if (rule.when === "swallow") isMute = true;
        else if (rule.when === "late") isLate = true;
        else isDoomed = true;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes: Buffer) => {
      if (isMute && !isSwallowed) cuts += 1;
      isSwallowed = isMute;
      if (isHole || isMute) return;
      if (isLate) {
        isLate = false;
        return void late.push(() => client.write(bytes));
      }
      if (isDoomed) {
        cuts += 1;
        return end();
      }
      client.write(bytes);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `postgres://${username}@127.0.0.1:${address.port}${pathname}`,
    cut(when, text, times = 1) {
      rule = { when, text, left: times };
    },
    release() {
      for (const answer of late.splice(0)) answer();
    },
    get cuts() {
      return cuts;
    },
    hole(is) {
      isHole = is;
    },
    lead(url) {
      path = socketOf(url);
      for (const socket of open) socket.destroy();
    },
    shut(is) {
      isShut = is;
      if (is) for (const socket of open) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function socketOf(databaseUrl: string): string {
  const { hostname, port } = new URL(databaseUrl);
  return `${decodeURIComponent(hostname)}/.s.PGSQL.${port || "5432"}`;
}
