// Run: alone, store, early
import { describe } from "node:test";
import { databasePlace } from "../storage/postgres-place.ts";
import { jobContract } from "./contract.ts";
import { schema } from "./place.ts";

describe("jobs on PostgreSQL", () => jobContract(() => databasePlace(schema), true));
