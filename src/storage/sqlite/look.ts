// A process of its own, since a large store takes long and SQLite cannot be interrupted: says the first damage of the store
// that is named, or nothing.
import "../../hardened.js";
import Sqlite from "better-sqlite3";
import { lookAt } from "./soundness.ts";

const [, , path = ""] = process.argv;
const connection = new Sqlite(path, { readonly: true, fileMustExist: true });
process.stdout.write(lookAt(connection) ?? "");
