const graphemes = new Intl.Segmenter();

/** A text of at most a size, cut between two letters as people see them; what was cut ends with an ellipsis, which is not counted. */
export function cut(text: string, most: number, sizeOf: (part: string) => number): string {
  if (sizeOf(text) <= most) return text;
  let kept = "";
  let size = 0;
  for (const { segment } of graphemes.segment(text)) {
    size += sizeOf(segment);
    if (size > most) break;
    kept += segment;
  }
  return `${kept}…`;
}
