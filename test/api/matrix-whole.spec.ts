// Run: alone, long

// Every method by all protocols, of which the matrix that `npm test` runs takes three.
process.env["IDSVC_TEST_ROUNDS"] ??= "7";
await import("./matrix.spec.ts");
