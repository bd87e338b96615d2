import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { SignJWT } from "jose";

// Prints the token of a system caller, good for five minutes: `node system-token.ts <name> <key file> <issuer>`. docs/use.md
// ("Another tenant") says how the service gets to know the caller.

const [name = "", keyFile = "", issuer = ""] = process.argv.slice(2);
const token = await new SignJWT()
  .setProtectedHeader({ alg: "ES256" })
  .setIssuer(name)
  .setSubject(name)
  // Where the call goes: the address that the service is reached at.
  .setAudience(issuer)
  .setIssuedAt()
  .setExpirationTime("5m")
  .sign(createPrivateKey(readFileSync(keyFile)));
console.log(token);
