import assert from "node:assert/strict";
import fc from "fast-check";
import { readCookie } from "../../src/login/agents.ts";
import { resolveOrigin } from "../../src/api/proxy.ts";
import { formText } from "../../src/api/web-endpoint.ts";
import { parseStrictJson } from "../../src/api/transcode/strict-json.ts";
import { parseNetwork } from "../../src/egress/url-guard.ts";
import { samlBounds, tooMuchXml } from "../../src/federation/xml-bounds.ts";
import { collect } from "../../src/oidc/core/form.ts";
import { kidOf, subjectOfAssertion } from "../../src/oidc/core/assertion.ts";
import { isCanonical } from "../../src/oidc/core/jwt.ts";
import { caseFold } from "../../src/storage/case-fold.ts";
import { chooseLanguage } from "../../src/texts/languages.ts";
import type { Target } from "./target.ts";

const network = parseNetwork("127.0.0.0/8") ?? assert.fail();
const proxied = resolveOrigin([network]);
const kib = 1024;
// What all headers together may have, and a body of whoever has no token (src/api/server.ts, src/api/web-endpoint.ts).
const [header, body] = [16 * kib, 64 * kib];

/** What reads texts of strangers: how long they may be in bytes, and pieces that mean something to it. */
const readers: Record<string, { most: number; pieces: string[]; read: (text: string) => unknown }> =
  {
    xml: {
      most: samlBounds.bytes,
      pieces: ["<a>", "</a>", "<a/>", "<!--", "-->", "<![CDATA[", "]]>", "<?", '="', "'", "<", ">"],
      read: (text) => tooMuchXml(text, samlBounds),
    },
    form: {
      most: body,
      pieces: ["a=b&", "&", "=", "%41", "%", "+", "a", "%C3%A4", "\u0300"],
      read: (text) => refusing(() => collect(formText(Buffer.from(text)))),
    },
    json: {
      most: body,
      pieces: [
        '{"a":',
        "[",
        "]",
        "}",
        '"',
        "\\u0041",
        "\\",
        "1e9",
        "9".repeat(20),
        ",",
        "null",
        " ",
      ],
      read: (text) => refusing(() => parseStrictJson(Buffer.from(text))),
    },
    jwt: {
      most: body,
      pieces: [".", "e30", "eyJhIjox", "=", "-", "_", "A"],
      read: (text) => [isCanonical(text), kidOf(text), subjectOfAssertion(text)],
    },
    cookie: {
      most: header,
      pieces: ["a=b; ", ";", "=", " ", "__Host-idsvc_browser", '"'],
      read: (text) => readCookie(text, "__Host-idsvc_browser"),
    },
    language: {
      most: header,
      pieces: ["en,", "de;q=0.5,", "q=", ";", "-", "*", "zh-Hant-", " "],
      read: (text) =>
        chooseLanguage({
          cookie: text,
          acceptLanguage: text,
          allowed: ["en", "de"],
          default: "en",
        }),
    },
    forwarded: {
      most: header,
      pieces: ["for=1.2.3.4,", ",", ";", '="[::1]:', "host=", "]", " ", "127.0.0.1,"],
      read: (text) =>
        ["forwarded", "x-forwarded-for"].map((sent) =>
          proxied(
            { host: "a", scheme: "http", peer: "127.0.0.1" },
            {
              get: (name) => (name === sent ? text : undefined),
              names: () => [sent],
              count: () => 1,
            },
          ),
        ),
    },
    // What a person types on a page is cut to this (src/login/page-context.ts).
    typed: {
      most: kib,
      pieces: ["\u0300", "\u0316", "\u0345", "a", "ß", "\u1e9e", "\ufdfa", "ﷺ"],
      read: (text) => [caseFold(text), text.normalize("NFC")],
    },
  };

const mostMs = 50;

/** Texts as long as may be, of few pieces again and again: no reader takes more than 50 ms of the processor (J17). */
export const held: Target = {
  name: "held",
  property: () =>
    fc.property(
      fc.constantFrom(...Object.keys(readers)).chain((name) => {
        const piece = fc.constantFrom(...(readers[name]?.pieces ?? []));
        const some = fc.array(piece, { maxLength: 3 });
        return fc.tuple(
          fc.constant(name),
          some,
          fc.array(piece, { minLength: 1, maxLength: 4 }),
          some,
        );
      }),
      ([name, before, repeated, after]) => {
        const reader = readers[name] ?? assert.fail();
        const [head, again, tail] = [before.join(""), repeated.join(""), after.join("")];
        const room = reader.most - Buffer.byteLength(head) - Buffer.byteLength(tail);
        const text =
          head + again.repeat(Math.max(0, Math.floor(room / Buffer.byteLength(again)))) + tail;
        // The best of three: what else the process does, such as collecting, is not the reader's.
        const took = Math.min(...[1, 2, 3].map(() => timeOf(() => reader.read(text))));
        assert.ok(
          took < mostMs,
          `${name} takes ${took} ms for ${JSON.stringify(text.slice(0, 60))}`,
        );
      },
    ),
};

/** Milliseconds of processor time. */
function timeOf(work: () => unknown): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

function refusing(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return undefined;
  }
}
