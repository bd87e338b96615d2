import { describe } from "node:test";
import { storageContract } from "./contract.ts";
import { databasePlace } from "./postgres-place.ts";

describe("the store on PostgreSQL", () => storageContract(databasePlace));
