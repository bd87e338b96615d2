// Run: shared, store
import { describe } from "node:test";
import { filePlace } from "../storage/sqlite-place.ts";
import { jobContract } from "./contract.ts";

describe("jobs on SQLite", () => jobContract(filePlace, false));
