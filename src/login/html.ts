export * from "../html.ts";
