import type { Query } from "drizzle-orm";
import type { Awaitable } from "../awaitable.ts";
import { QueryPromise } from "./drizzle.ts";

/** A query that is written as text. As those of drizzle's builder it is sent when it is awaited. */
export class TextQuery<R> extends QueryPromise<R[]> {
  readonly all: () => Awaitable<R[]>;
  readonly #query: Query;

  /** @param all sends it and gives its rows */
  constructor(query: Query, all: () => Awaitable<R[]>) {
    super();
    this.#query = query;
    this.all = all;
  }
  toSQL(): Query {
    return this.#query;
  }
  async execute(): Promise<R[]> {
    return this.all();
  }
}
