// The numbers are those of google.rpc.Code.
const httpStatusByCode: Readonly<Record<number, number>> = {
  0: 200,
  1: 499,
  2: 500,
  3: 400,
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  11: 400,
  12: 501,
  13: 500,
  14: 503,
  15: 500,
  16: 401,
};

/** The HTTP status that says over REST what a canonical code says over gRPC. A code that does not exist is a fault of ours. */
export function httpStatusOf(code: number): number {
  return httpStatusByCode[code] ?? 500;
}
