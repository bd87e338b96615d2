// Run: shared
import { describe } from "node:test";
import { filePlace } from "../storage/sqlite-place.ts";
import { eventStoreContract } from "./contract.ts";

describe("the event store on SQLite", () => eventStoreContract(filePlace));
