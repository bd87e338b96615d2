import type { JsonValue } from "@bufbuild/protobuf";
import { textAt } from "./declare.ts";

/** What a user is called, as far as the reader may see it: by their data, else by their username. */
export function userName(object: JsonValue | undefined): string {
  const text = (key: string) => textAt(object, `user.data.${key}`).trim();
  const full = `${text("given_name")} ${text("family_name")}`.trim();
  const names = [text("display_name"), full, text("name"), text("nickname")];
  return names.find((name) => name !== "") ?? textAt(object, "user.username");
}
