/** One kind of request, sent over and over. */
export type LoadSpec = {
  protocol: "http1" | "grpc";
  port: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Bytes, in base64 so that a spec is JSON. Holds `counterMark` where each request has a number of its own. */
  body: string;
  counted: boolean;
  /** Bodies that are sent in turn instead of `body`, in base64. */
  bodies?: string[];
  connections: number;
  /** Requests under way on each connection. */
  streams: number;
  /** Bytes of each answer, where they are all alike; h2load sees no trailers, and an error has another length. */
  answerBytes?: number;
  /** An open loop: so many requests a second, however long answers take, instead of one after each answer; one at a time on a connection. */
  perSecond?: number;
  /** With `perSecond`: a generator that has just started is slow itself, so what it sends in so many seconds before the load is not counted. */
  warmUpSeconds?: number;
  /** HTTP/1.1 only: values that requests carry in the place of `counterMark`, each once. */
  feed?: Feed;
};

/** Whole log-ins over the pages, by browsers without a screen, each a new one. */
export type LogInSpec = {
  protocol: "pages";
  port: number;
  /** Of the authorization request that a log-in begins with. */
  path: string;
  loginName: string;
  password: string;
  /** Browsers at once. */
  connections: number;
  streams: 1;
};

export type Feed = {
  values: string[];
  /** The member of the JSON answers whose value is fed in turn. */
  again?: string;
  /** A request of its own after each answer, with what `parameter` of its `Location` holds in the place of the mark. */
  next?: {
    parameter: string;
    method: string;
    path: string;
    headers: Record<string, string>;
    body: string;
  };
};

/** Whether values are used up and none come back: the load ends with them. */
export const canRunDry = ({ again, next }: Feed): boolean =>
  again === undefined && next === undefined;

export type LoadResult = {
  requests: number;
  /** How long it lasted: shorter than asked where what it sends was used up. */
  seconds: number;
  p50: number;
  p99: number;
  /** What went wrong; empty when every answer was a success. */
  problem: string;
};

/** Stands in a counted body; replaced by as many digits. */
export const counterMark = "@@@@@@@@@@@@";
const runDigits = 4;

let runs = 0;

/** Numbers that begin with the run, so that no number comes twice while the harness lives. */
export const nextRun = (): string => String(runs++).padStart(runDigits, "0");
export const counterDigits = counterMark.length - runDigits;
