import { services } from "../../gen/client_services.ts";
import type { DescMethod } from "@bufbuild/protobuf";
import { logIns } from "../../src/console/declared/health.ts";
import { ownInstance } from "../../src/console/declared/own-instance.ts";
import { importJob, transfer } from "../../src/console/declared/transfer.ts";
import { read } from "../architecture/table.ts";
import { allChoices, declaredKinds, declaredLists, declaredSettings, offered } from "./declared.ts";

/** Why a method is reached from no page. */
export type Reason =
  /** The row of a list has all that it answers. */
  | "in its list"
  /** Programs call it: a log-in of one's own. */
  | "machines"
  /** An older method, beside one that a page offers. */
  | "superseded"
  /** People do it to their own account, on its pages. */
  | "own account"
  /** It acts on the system above all instances, whose callers log in nowhere. */
  | "system";

const nameOf = ({ parent, name }: DescMethod): string => `${parent.name}.${name}`;

/** By method, where the console offers it: the path of a page, and what the button says. */
export function offeredMethods(): Map<string, string> {
  const where = new Map<string, string>();
  const add = (method: DescMethod, page: string): void => {
    const name = nameOf(method);
    if (!where.has(name)) where.set(name, page);
  };
  for (const { path, listed } of declaredLists) add(listed.search.method, path);
  for (const { path, kind } of declaredKinds) {
    add(kind.get, path);
    if (kind.history !== undefined) add(kind.history.method, `${path}?tab=history`);
    for (const { tab, search } of kind.rows) {
      if (search !== undefined) add(search.method, `${path}?tab=${tab}`);
    }
  }
  for (const { path, tab, action } of offered) {
    add(action.method, `${path}${tab === "" ? "" : `?tab=${tab}`}: ${action.word}`);
  }
  for (const { path, method } of allChoices) add(method, `${path}: to choose from`);
  for (const { path, group } of declaredSettings) add(group.resolve, path);
  add(ownInstance.get, "/limits");
  add(logIns.method, "/");
  for (const method of [importJob.get, transfer.begin, transfer.report, transfer.export]) {
    add(method, "/transfer");
  }
  // What is called outside of what is declared: the frame around all pages, and what it asks.
  for (const { path, text } of read("src/console")) {
    if (path.startsWith("declared/") && path !== "declared/service-port.ts") continue;
    for (const [, service = "", method = ""] of text.matchAll(/\b(\w+Service)\.method\.(\w+)/g)) {
      const name = `${service}.${method.charAt(0).toUpperCase()}${method.slice(1)}`;
      if (!where.has(name)) where.set(name, "every page");
    }
  }
  return where;
}

export const allMethods = (): string[] =>
  Object.values(services).flatMap(({ methods }) => methods.map(nameOf));

if (import.meta.main) {
  const where = offeredMethods();
  for (const name of allMethods()) console.log(`${name}\t${where.get(name) ?? ""}`);
}
