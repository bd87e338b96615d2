/** How large a document may be before anything else looks at it. */
export type XmlBounds = { bytes: number; nodes: number; attributes: number; depth: number };

/**
 * Bounds of documents of SAML (J17). `nodes` counts elements, comments, processing instructions and CDATA sections;
 * `attributes` those of all elements together, namespace declarations too. Path queries and canonicalisation take a time that
 * grows faster than these numbers.
 */
export const samlBounds: XmlBounds = {
  bytes: 256 * 1024,
  nodes: 2_000,
  attributes: 4_000,
  depth: 100,
};

/**
 * What is too much in a document, or undefined. One pass over the text, in a time that grows with its length alone; it does
 * not say whether the document is well formed. A document type is always too much: entities grow without bound.
 */
export function tooMuchXml(xml: string, most: XmlBounds): string | undefined {
  if (Buffer.byteLength(xml) > most.bytes) return `it is longer than ${most.bytes} bytes`;
  let nodes = 0;
  let attributes = 0;
  let depth = 0;
  let at = xml.indexOf("<");
  while (at !== -1) {
    if (xml.startsWith("</", at)) {
      depth -= 1;
      at = xml.indexOf("<", at + 2);
      continue;
    }
    nodes += 1;
    if (nodes > most.nodes) return `it has more than ${most.nodes} elements`;
    const special = specials.find(({ begin }) => xml.startsWith(begin, at));
    if (special !== undefined) {
      const end = special.end === "" ? -1 : xml.indexOf(special.end, at + special.begin.length);
      if (end === -1) return special.end === "" ? "it has a document type" : "it is no XML";
      at = xml.indexOf("<", end);
      continue;
    }
    const tag = readTag(xml, at + 1);
    if (tag === undefined) return "it is no XML";
    attributes += tag.attributes;
    if (attributes > most.attributes) return `it has more than ${most.attributes} attributes`;
    if (!tag.isEmpty) depth += 1;
    if (depth > most.depth) return `its elements are nested more than ${most.depth} deep`;
    at = xml.indexOf("<", tag.end);
  }
  return undefined;
}

const specials = [
  { begin: "<!--", end: "-->" },
  { begin: "<![CDATA[", end: "]]>" },
  { begin: "<?", end: "?>" },
  // Anything else that begins so is a declaration.
  { begin: "<!", end: "" },
];

/** Reads a tag from behind its `<`; quoted values may hold anything. Undefined where it does not end. */
function readTag(xml: string, from: number) {
  let attributes = 0;
  for (let at = from; at < xml.length; at++) {
    const char = xml[at];
    if (char === '"' || char === "'") {
      const close = xml.indexOf(char, at + 1);
      if (close === -1) return undefined;
      attributes += 1;
      at = close;
    } else if (char === ">") {
      return { attributes, isEmpty: xml[at - 1] === "/", end: at };
    } else if (char === "<") {
      return undefined;
    }
  }
  return undefined;
}
