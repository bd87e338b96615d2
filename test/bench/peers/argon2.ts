// Bare argon2id behind node:http: each request verifies one password with the service's own cost, in as many threads as
// the service hashes in. `argon2.ts`
import http from "node:http";
import { availableParallelism } from "node:os";
import { hash, verify } from "@node-rs/argon2";
import { argon2Policy } from "../../../src/crypto/password-policy.ts";
import { host, port } from "./place.ts";

const password = "correct horse battery staple";
const phc = await hash(password, argon2Policy);
const threads = Math.max(1, availableParallelism() - 1);
let running = 0;
const waiting: (() => void)[] = [];

async function check(): Promise<boolean> {
  if (running >= threads) await new Promise<void>((go) => waiting.push(go));
  running += 1;
  try {
    return await verify(phc, password);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

http
  .createServer((request, response) => {
    request.resume().on("end", () => {
      void check().then((isRight) => response.writeHead(isRight ? 200 : 500).end("{}"));
    });
  })
  .listen(port, host);
