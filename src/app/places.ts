import { isIP } from "node:net";
import { parseNetwork } from "../egress/url-guard.ts";
import { configValueWrong } from "./config.ts";
import { readText } from "./config-layers.ts";

/** The place of an address, as far as whoever runs the service has named it. */
export type PlaceOf = (address: string) => string | undefined;

// Looked through for each address that a page shows.
const mostPlaces = 1_000;
const longestPlace = 100;

/**
 * Reads a file of places: a network a line, and after a comma what people are told of it. Empty lines and those that begin with `#` say
 * nothing. Of networks that hold an address the smallest counts.
 *
 * @throws INVALID_ARGUMENT CONFIG_FILE_WRONG, CONFIG_VALUE_WRONG with the number of the line
 */
export function readPlaces(file: string | undefined): PlaceOf {
  if (file === undefined) return () => undefined;
  const lines = readText(file, "the file of IDSVC_PLACES").split(/\r?\n/);
  const places = lines.flatMap((line, at) =>
    line.trim() === "" || line.startsWith("#") ? [] : [placeIn(line, at + 1)],
  );
  if (places.length > mostPlaces) throw wrong(`have at most ${mostPlaces} networks`);
  const smallestFirst = places.toSorted((one, other) => other.bits - one.bits);
  return (address) => {
    const version = isIP(address);
    if (version === 0) return undefined;
    const family = version === 4 ? "ipv4" : "ipv6";
    return smallestFirst.find(({ list }) => list.check(address, family))?.name;
  };
}

function placeIn(line: string, number: number) {
  const [, network = "", name = ""] = /^([^,]*),(.*)$/.exec(line)?.map((part) => part.trim()) ?? [];
  const list = parseNetwork(network);
  if (list === undefined || name === "" || name.length > longestPlace) {
    throw wrong(
      `have a network and a place of at most ${longestPlace} characters in each line, such as 203.0.113.0/24,Office in Bern; line ${number} has none`,
    );
  }
  const [address = "", bits] = network.split("/");
  return { list, name, bits: Number(bits ?? (isIP(address) === 4 ? 32 : 128)) };
}

const wrong = (expected: string) =>
  configValueWrong(`the file of IDSVC_PLACES must ${expected}`, {
    option: "IDSVC_PLACES",
    expected,
  });
