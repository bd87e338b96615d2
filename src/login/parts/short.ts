import { cut } from "../../texts/cut.ts";

/** The bytes of a text as it is written into a page: what is escaped takes up to six. */
export const writtenBytes = (text: string): number =>
  Buffer.byteLength(text) + 5 * (text.match(/[&<>"']/g)?.length ?? 0);

/** A text as a list shows it, so that no list is larger than its rows, however long names are. */
export const short = (text: string, most = 120): string => cut(text, most, writtenBytes);
