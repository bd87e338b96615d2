import {
  type DescMethod,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  type CallOptions,
  Client,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { pathOf } from "../../support/protocols.ts";

type Call = { host: string; token?: string | undefined; body: JsonValue };
export type GrpcAnswer = { isDone: boolean; json: JsonValue };

/** Calls the service in gRPC, by a client that is not ours. */
export type GrpcCaller = Disposable & { call(method: DescMethod, call: Call): Promise<GrpcAnswer> };

const longestMs = 20_000;
// What a stream has to say at once; it may be one that never ends.
const streamMs = 150;
const mostMessages = 20;

export function grpcCaller(port: number): GrpcCaller {
  const clients = new Map<string, Client>();
  const clientOf = (host: string): Client => {
    let client = clients.get(host);
    if (client === undefined) {
      // Worlds come one after the other, and each has a host of its own.
      for (const [of, old] of [...clients].slice(0, -1)) {
        old.close();
        clients.delete(of);
      }
      client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
        "grpc.default_authority": host,
      });
      clients.set(host, client);
    }
    return client;
  };

  return {
    async call(method, { host, token, body }) {
      const request = messageOf(method, body);
      if (request === undefined) return { isDone: false, json: null };
      const metadata = new Metadata();
      // What a header cannot hold is no token.
      if (token !== undefined && /^[\x20-\x7e]{1,8000}$/.test(token)) {
        metadata.set("authorization", `Bearer ${token}`);
      }
      const client = clientOf(host);
      const ways = {
        path: pathOf(method),
        write: (message: Message) => Buffer.from(toBinary(method.input, message)),
        read: (bytes: Buffer): Message => fromBinary(method.output, bytes),
      };
      const answers =
        method.methodKind === "unary"
          ? await once(client, { ...ways, request, metadata })
          : await streamed(client, { ...ways, request, metadata });
      if (answers instanceof Error) {
        const [packed] = answers.metadata.get("grpc-status-details-bin");
        const why = packed instanceof Buffer ? packed.toString("latin1") : "";
        return { isDone: false, json: { reason: /[A-Z]+_[A-Z_]+/.exec(why)?.[0] ?? "" } };
      }
      const told = answers.map((each) => toJson(method.output, each, { useProtoFieldName: true }));
      return { isDone: true, json: method.methodKind === "unary" ? (told[0] ?? null) : told };
    },
    [Symbol.dispose]() {
      for (const client of clients.values()) client.close();
    },
  };
}

/** What the words say as a message; undefined where they are of no such message, which JSON alone can send. */
function messageOf({ input }: DescMethod, body: JsonValue): Message | undefined {
  try {
    return fromJson(input, body);
  } catch {
    return undefined;
  }
}

type Asked = {
  path: string;
  write(message: Message): Buffer;
  read(bytes: Buffer): Message;
  request: Message;
  metadata: Metadata;
};
const inTime = (): CallOptions => ({ deadline: Date.now() + longestMs });

const once = (client: Client, { path, write, read, request, metadata }: Asked) =>
  new Promise<Message[] | ServiceError>((resolve) => {
    client.makeUnaryRequest(path, write, read, request, metadata, inTime(), (error, message) =>
      resolve(error ?? (message === undefined ? [] : [message])),
    );
  });

/** The first messages of a stream. */
const streamed = (client: Client, { path, write, read, request, metadata }: Asked) =>
  new Promise<Message[] | ServiceError>((resolve) => {
    const heard: Message[] = [];
    const call = client.makeServerStreamRequest(path, write, read, request, metadata, inTime());
    let refusal: ServiceError | undefined;
    const timer = setTimeout(() => call.cancel(), streamMs);
    call.on("data", (message: Message) => {
      heard.push(message);
      if (heard.length >= mostMessages) call.cancel();
    });
    // Our own cancelling comes as an error too.
    call.on("error", (error: ServiceError) => {
      if (error.code !== status.CANCELLED) refusal = error;
    });
    call.on("close", () => end());
    call.on("status", () => end());
    const end = () => {
      clearTimeout(timer);
      setImmediate(() => resolve(refusal !== undefined && heard.length === 0 ? refusal : heard));
    };
  });
