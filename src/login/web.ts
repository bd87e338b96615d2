/** What the login reads of a request and gives as an answer; the shapes of the port that serves it. */
export type LoginRequest = {
  method: string;
  url: string;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
};

export type LoginAnswer = {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
  cookies?: string[];
};

export type LoginPlace = {
  instanceId: string;
  issuer: string;
  isBlocked: boolean;
  requestId: string;
  peer: string;
};

export type LoginEndpoint = {
  path: string;
  methods: readonly ("GET" | "POST")[];
  crossOrigin: "none";
  handle: (request: LoginRequest, at: LoginPlace) => Promise<LoginAnswer>;
};
