import fc from "fast-check";

/** What goes over one connection, piece by piece; `slowMs` lies between the pieces. */
export type Script = { pieces: Uint8Array[]; slowMs: number; isSmuggling: boolean };

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** A frame (RFC 9113 section 4.1), perhaps of a length that it does not have. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array, length?: number) {
  const head = Buffer.alloc(9);
  head.writeUIntBE((length ?? payload.length) % 2 ** 24, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

const literal = (index: number, text: string) =>
  Buffer.concat([Buffer.from([index, text.length]), Buffer.from(text)]);
// A right request, without any table: GET, http, the path and the authority (RFC 7541).
const request = Buffer.concat([
  Buffer.from([0x82, 0x86]),
  literal(0x04, "/healthz"),
  literal(0x01, "localhost"),
]);

const payload = fc.oneof(
  fc.constant(request),
  fc.constant(new Uint8Array()),
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(
    Buffer.alloc(8),
    Buffer.from([0, 0, 0, 0]),
    Buffer.from([0x7f, 0xff, 0xff, 0xff]),
    // Settings: an immense table, no window, the largest frame.
    Buffer.from([0, 1, 0xff, 0xff, 0xff, 0xff]),
    Buffer.from([0, 4, 0, 0, 0, 0]),
    Buffer.from([0, 5, 0, 0xff, 0xff, 0xff]),
    // An integer of HPACK without end, and a reference to what is in no table.
    Buffer.alloc(30, 0xff),
    Buffer.from([0xbf, 0xbf, 0xbf]),
    Buffer.alloc(16_384, 0x61),
  ),
);

const oneFrame = fc
  .record({
    type: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.nat({ max: 255 })),
    flags: fc.constantFrom(0, 1, 4, 5, 8, 0x0d, 0x20, 0xff),
    stream: fc.constantFrom(0, 1, 1, 2, 3, 5, 0x7fffffff, 0xffffffff),
    payload,
    length: fc.option(fc.nat({ max: 2 ** 24 - 1 }), { nil: undefined, freq: 8 }),
  })
  .map((drawn) => frame(drawn.type, drawn.flags, drawn.stream, drawn.payload, drawn.length));

/** The same small frame thousands of times: pings, settings, empty data, continuations, streams begun and broken off. */
const flood = fc
  .tuple(
    fc.constantFrom("ping", "settings", "data", "continuation", "reset", "priority", "window"),
    fc.integer({ min: 100, max: 4_000 }),
  )
  .map(([kind, many]) => {
    const none = new Uint8Array();
    const parts: Uint8Array[] = kind === "continuation" ? [frame(1, 1, 1, request)] : [];
    if (kind === "data") parts.push(frame(1, 4, 1, request));
    for (let nr = 0; nr < many; nr++) {
      const stream = 2 * nr + 1;
      if (kind === "ping") parts.push(frame(6, 0, 0, Buffer.alloc(8)));
      if (kind === "settings") parts.push(frame(4, 0, 0, none));
      if (kind === "data") parts.push(frame(0, 0, 1, none));
      if (kind === "continuation")
        parts.push(frame(9, 0, 1, Buffer.from([0x40, 1, 0x61, 1, 0x62])));
      if (kind === "reset")
        parts.push(frame(1, 5, stream, request), frame(3, 0, stream, Buffer.from([0, 0, 0, 8])));
      if (kind === "priority") parts.push(frame(2, 0, stream, Buffer.from([0, 0, 0, 0, 1])));
      if (kind === "window") parts.push(frame(8, 0, 0, Buffer.from([0, 0, 0, 1])));
    }
    return Buffer.concat(parts);
  });

const cutOff = (bytes: Uint8Array, at: number) => bytes.subarray(0, at % (bytes.length + 1));
const withByte = (bytes: Uint8Array, at: number, byte: number): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  if (copy.length > 0) copy[at % copy.length] = byte;
  return copy;
};

const http2Script: fc.Arbitrary<Uint8Array[]> = fc
  .tuple(
    fc.constantFrom(preface, preface, preface, preface.subarray(0, 20)),
    fc.boolean(),
    fc.array(fc.oneof({ weight: 5, arbitrary: oneFrame }, { weight: 1, arbitrary: flood }), {
      minLength: 1,
      maxLength: 8,
    }),
  )
  .map(([start, hasSettings, frames]) => [
    start,
    ...(hasSettings ? [frame(4, 0, 0, new Uint8Array())] : []),
    ...frames,
  ]);

const smuggled = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
const codings = [
  "chunked",
  "Chunked",
  "xchunked",
  "chunked, identity",
  "identity",
  " chunked",
  "\tchunked",
  "gzip, chunked",
];
const headers = fc.oneof(
  fc.constantFrom(...codings).map((coding) => `Transfer-Encoding: ${coding}`),
  fc
    .constantFrom("0", "5", "-1", "+5", "5, 5", "0x5", "99999999999999999999", "")
    .map((length) => `Content-Length: ${length}`),
  fc.constantFrom(
    "Host: a",
    "Host: ",
    "Connection: close, host",
    "Expect: 100-continue",
    "Upgrade: h2c",
    "Trailer: host",
  ),
  fc.constantFrom(
    "X: a\r\n b",
    "X : a",
    ": a",
    "X\u0000: a",
    "X: a\nY: b",
    "X: a\rY: b",
    "Content-Length\u000b: 5",
  ),
  fc.integer({ min: 1_000, max: 100_000 }).map((size) => `X: ${"a".repeat(size)}`),
  fc
    .integer({ min: 100, max: 5_000 })
    .map((many) => Array.from({ length: many }, (_, nr) => `X-${nr}: a`).join("\r\n")),
);
const bodies = fc.constantFrom(
  "",
  `0\r\n\r\n${smuggled}`,
  `5\r\nhello\r\n0\r\n\r\n`,
  "fffffffffffffffff\r\n",
  "-1\r\n",
  "5;a=b\r\nhello\r\n0\r\nX: a\r\n\r\n",
  `5 \r\nhello\r\n${smuggled}`,
  "0\n\n",
  `1;${"x".repeat(20_000)}\r\na\r\n`,
  smuggled,
  "hello",
);

const http1Script: fc.Arbitrary<Omit<Script, "slowMs">> = fc
  .tuple(
    fc.constantFrom(
      "POST /oauth/v2/token HTTP/1.1",
      "GET /healthz HTTP/1.1",
      "POST /a HTTP/1.0",
      "GET http://a/ HTTP/1.1",
      "OPTIONS * HTTP/1.1",
      "GET / HTTP/9.9",
      "\r\n\r\nGET / HTTP/1.1",
      "CONNECT a:1 HTTP/1.1",
    ),
    fc.array(headers, { maxLength: 4 }),
    bodies,
    fc.integer({ min: 1, max: 3 }),
  )
  .map(([line, given, body, times]) => {
    const head = [line, "Host: localhost", ...given, "", ""].join("\r\n");
    const has = (name: string) => given.some((each) => each.toLowerCase().startsWith(name));
    return {
      pieces: Array.from({ length: times }, () => Buffer.from(head + body, "latin1")),
      isSmuggling: times === 1 && has("transfer-encoding") && has("content-length"),
    };
  });

/** Connections that nobody would open: frames and bytes as they must not be, cut, changed, or slow. */
export const scripts: fc.Arbitrary<Script> = fc
  .tuple(
    fc.oneof(
      http2Script.map((pieces) => ({ pieces, isSmuggling: false })),
      http1Script,
    ),
    fc.option(fc.tuple(fc.nat(), fc.nat(), fc.nat({ max: 255 }), fc.boolean()), {
      nil: undefined,
      freq: 2,
    }),
    fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 50),
  )
  .map(([{ pieces, isSmuggling }, change, slowMs]) => {
    if (change === undefined) return { pieces, slowMs, isSmuggling };
    const [which, at, byte, isCut] = change;
    const nr = which % pieces.length;
    const changed = pieces.map((piece, place) =>
      place !== nr ? piece : isCut ? cutOff(piece, at) : withByte(piece, at, byte),
    );
    return { pieces: changed, slowMs, isSmuggling: false };
  });
