// Run: alone, early
import { describe } from "node:test";
import { databasePlace } from "../storage/postgres-place.ts";
import { eventStoreContract } from "./contract.ts";
import { schema } from "./place.ts";

describe("the event store on PostgreSQL", () => eventStoreContract(() => databasePlace(schema)));
