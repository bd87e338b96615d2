/** How often a race is run: so often by default, as often as `IDSVC_TEST_ROUNDS` says where somebody has the time. */
export function roundsOf(usual: number): number {
  const wanted = Number(process.env["IDSVC_TEST_ROUNDS"] ?? usual);
  if (!Number.isInteger(wanted) || wanted < 1)
    throw new Error("IDSVC_TEST_ROUNDS is a number from 1");
  return wanted;
}
