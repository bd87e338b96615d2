// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { samlBounds, tooMuchXml } from "../../src/federation/xml-bounds.ts";

const times = (count: number, piece: string | ((at: number) => string)) =>
  Array.from({ length: count }, (_, at) => (typeof piece === "string" ? piece : piece(at))).join(
    "",
  );
const filled = (piece: string) => times(Math.floor((samlBounds.bytes - 100) / piece.length), piece);

describe("D81: the bounds of documents of SAML (J17)", () => {
  const taken: [string, string][] = [
    ["as many elements as may be", `<r>${times(samlBounds.nodes - 1, "<a/>")}</r>`],
    ["as deep as may be", times(samlBounds.depth, "<a>") + times(samlBounds.depth, "</a>")],
    ["as many attributes as may be", `<r ${times(samlBounds.attributes, (at) => `a${at}="" `)}/>`],
    [
      "signs of tags in values, comments and CDATA",
      `<r a="<>'/>" b='<"'><!--<a><a>--><![CDATA[<a>]]></r>`,
    ],
    ["a declaration of XML", `<?xml version="1.0"?><r/>`],
    ["much text", `<r>${filled("text &amp; ")}</r>`],
  ];
  for (const [what, xml] of taken) {
    it(`let pass ${what}`, () => assert.equal(tooMuchXml(xml, samlBounds), undefined));
  }

  const refused: [string, string, RegExp][] = [
    ["bytes", `<r>${"ä".repeat(samlBounds.bytes / 2)}</r>`, /longer than 262144 bytes/],
    ["elements", `<r>${times(32_000, "<a/>")}</r>`, /more than 2000 elements/],
    ["comments", `<r>${times(2_000, "<!---->")}</r>`, /more than 2000 elements/],
    ["CDATA sections", `<r>${times(2_000, "<![CDATA[]]>")}</r>`, /more than 2000 elements/],
    ["processing instructions", `<r>${times(2_000, "<?a?>")}</r>`, /more than 2000 elements/],
    ["depth", times(101, "<a>"), /nested more than 100 deep/],
    ["depth, with comments that look like ends", times(101, "<a><!--</a>-->"), /nested more than/],
    ["attributes", `<r ${times(4_001, (at) => `a${at}="" `)}/>`, /more than 4000 attributes/],
    ["a document type", `<!DOCTYPE r [<!ENTITY a "b">]><r/>`, /document type/],
    ["a document type in lower case", `<!doctype r><r/>`, /document type/],
    ["a tag that does not end", `<r><a `, /no XML/],
    ["a value that does not end", `<r a="x`, /no XML/],
    ["a comment that does not end", `<r><!-- `, /no XML/],
    ["a tag within a tag", `<r <a>`, /no XML/],
  ];
  for (const [what, xml, why] of refused) {
    it(`refuse ${what}`, () => assert.match(String(tooMuchXml(xml, samlBounds)), why));
  }

  it("are judged in at most 50 ms of processor time, whatever the document", () => {
    const pieces = [
      "<a/>",
      "<",
      "<a ",
      `<a b="`,
      "<!--",
      "-->",
      "<![CDATA[",
      "]]>",
      "<?",
      `"`,
      ">",
      "</",
      "<a>",
    ];
    for (const piece of [...pieces, "</a>", "'", "<!---->", "\r", "&lt;", "<a b='\"' "]) {
      for (const xml of [filled(piece), `<r>${filled(piece)}`, `<r a="${filled(piece)}`]) {
        const began = process.cpuUsage();
        tooMuchXml(xml, samlBounds);
        const { user, system } = process.cpuUsage(began);
        assert.ok(user + system < 50_000, `${piece}: ${(user + system) / 1000} ms`);
      }
    }
  });
});
