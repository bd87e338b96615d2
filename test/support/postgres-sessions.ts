import { Socket } from "node:net";
import pg from "pg";

// To connect costs the server 5 ms, and each statement once more what a new connection has not looked up yet: together that was most of
// what it took for a service of a test. Connections to a database that is used again do not end with their client: they forget
// all that it set (`DISCARD ALL`, as poolers have it), and the next client with the same settings has them.

/** A connection that no client has, and what the server said first, up to where it was ready. */
type Idle = { socket: Socket; greeting: Buffer };
/** Connections to a database, by the settings of their clients. */
type Kept = { idle: Map<string, Idle[]>; leaving: Set<Promise<void>> };

const databases = new Map<string, Kept>();
const patienceMs = 5_000;

/** From now on connections of this process to a database stay when their clients end them. */
export function keepSessions(url: string): void {
  databases.set(url, { idle: new Map(), leaving: new Set() });
}

/** The server's processes of the connections that stay, when those that clients have ended are among them. */
export async function sessionsOf(url: string): Promise<number[]> {
  const { idle, leaving } = databases.get(url) ?? {};
  for (const each of leaving ?? []) {
    await each;
    leaving?.delete(each);
  }
  return [...(idle?.values() ?? [])].flat().map(({ greeting }) => processOf(greeting));
}

/** No connection to a database stays any longer. */
export async function endSessions(url: string): Promise<void> {
  await sessionsOf(url);
  const all = [...(databases.get(url)?.idle.values() ?? [])].flat();
  databases.delete(url);
  for (const { socket } of all) socket.destroy();
}

class Client extends pg.Client {
  #ended: Promise<void> | undefined;

  constructor(config: pg.ClientConfig = {}) {
    super(settled(config));
  }

  // To end it a second time would close the connection of the client that uses it next.
  override end(): Promise<void>;
  override end(callback: (error?: Error) => void): void;
  override end(callback?: (error?: Error) => void): Promise<void> | void {
    const ended = (this.#ended ??= super.end());
    if (callback === undefined) return ended;
    ended.then(() => callback(), callback);
  }
}
class Pool extends pg.Pool {
  constructor(config?: pg.PoolConfig) {
    super({ ...config, Client });
  }
}
// Whoever asks the library for one from now on gets these.
Object.assign(pg, { Client, Pool });

function settled(config: pg.ClientConfig): pg.ClientConfig {
  const { connectionString = "", ...settings } = config;
  const kept = databases.get(connectionString);
  if (kept === undefined) return config;
  return { ...config, stream: () => socketFrom(kept, JSON.stringify(settings)) };
}

/** What a client talks to: a connection that stayed, else a new one. */
function socketFrom(kept: Kept, key: string): Socket {
  const stayed = kept.idle.get(key)?.pop();
  const socket = stayed?.socket.ref() ?? newSocket(kept);
  const own = listenersOf(socket);
  let { greeting } = stayed ?? {};
  let isAsked = greeting === undefined;
  const { connect, write } = Socket.prototype;
  const say = (...all: unknown[]): boolean => {
    if (!isAsked) {
      // The first that a client says are its settings, which are those of the client before.
      isAsked = true;
      process.nextTick(() => socket.emit("data", greeting));
    } else if (greeting === undefined || !isGoodbye(all[0]))
      return Reflect.apply(write, socket, all);
    else kept.leaving.add(leave(kept, key, { socket, greeting }, own));
    return true;
  };
  socket.connect = (...all: unknown[]) => {
    // To connect takes back what is in the place of `write`.
    if (greeting === undefined) Reflect.apply(connect, socket, all);
    else process.nextTick(() => socket.emit("connect"));
    socket.write = say;
    return socket;
  };
  if (greeting === undefined) void greetingOf(socket).then((said) => (greeting = said));
  return socket;
}

function newSocket({ idle }: Kept): Socket {
  const socket = new Socket();
  // A server that stops ends those that nobody has too.
  socket.on("error", () => {});
  socket.on("close", () => {
    for (const [key, all] of idle) {
      const others = all.filter((each) => each.socket !== socket);
      idle.set(key, others);
    }
  });
  return socket;
}

type Listener = Parameters<Socket["off"]>[1];

const listenersOf = (socket: Socket): [string | symbol, Listener][] =>
  socket
    .eventNames()
    .flatMap((name) =>
      socket.rawListeners(name).map((each) => [name, each as Listener] as [string, Listener]),
    );

/** All that a server says until it is ready for the first statement. */
function greetingOf(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    socket.on("data", function hear(part: Buffer) {
      parts.push(part);
      if (readinessOf(part) === undefined) return;
      socket.off("data", hear);
      resolve(Buffer.concat(parts));
    });
  });
}

/** Takes a connection from its client, to whom it is closed then. It stays when it has forgotten what the client set. */
async function leave(
  { idle }: Kept,
  key: string,
  session: Idle,
  own: ReturnType<typeof listenersOf>,
): Promise<void> {
  const { socket } = session;
  Reflect.deleteProperty(socket, "write");
  Reflect.deleteProperty(socket, "connect");
  const isOwn = (listener: Listener) => own.some(([, each]) => each === listener);
  const clients = listenersOf(socket).filter(([, each]) => !isOwn(each));
  for (const [name, listener] of clients) socket.off(name, listener);
  const isClean = await new Promise<boolean>((resolve) => {
    const late = setTimeout(() => end(false), patienceMs);
    const hear = (part: Buffer) => {
      const readiness = readinessOf(part);
      // In a transaction it forgets nothing.
      if (readiness !== undefined) end(readiness === "I" && part.includes("DISCARD ALL\0"));
    };
    const gone = () => end(false);
    const end = (is: boolean) => {
      clearTimeout(late);
      socket.off("data", hear).off("close", gone);
      resolve(is);
    };
    socket.on("data", hear).on("close", gone);
    socket.write(statement("DISCARD ALL"));
  });
  for (const [name, listener] of clients) if (name === "close") listener.call(socket, false);
  if (isClean) idle.set(key, [...(idle.get(key) ?? []), { ...session, socket: socket.unref() }]);
  else socket.destroy();
}

const isGoodbye = (part: unknown): boolean =>
  part instanceof Uint8Array && part.length === 5 && part[0] === 0x58;

function statement(text: string): Buffer {
  const bytes = Buffer.from(`Q\0\0\0\0${text}\0`);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

/** The state of the transaction, where the server says at the end of a part that it is ready. */
function readinessOf(part: Buffer): string | undefined {
  const last = part.subarray(-6).toString("latin1");
  return last.startsWith("Z\0\0\0\u0005") ? last.at(-1) : undefined;
}

/** Its number, of the message that the server has for whoever wants to cancel a statement. */
function processOf(greeting: Buffer): number {
  for (let at = 0; at < greeting.length; at += 1 + greeting.readInt32BE(at + 1)) {
    if (greeting[at] === 0x4b) return greeting.readInt32BE(at + 5);
  }
  throw new Error("the server did not say which process it is");
}
