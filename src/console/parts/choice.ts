import { type KeyboardEvent, useEffect, useState } from "react";

type Of<T> = {
  keyOf: (each: T) => string;
  /** Whether the first of the list is what the text finds; else it may be what an older text has found. */
  isCurrent: boolean;
  choose: (chosen: T) => void;
};

/**
 * Chooses of the list below a field by keys: arrows lead through it, and Enter takes what they led to. Where they led nowhere it takes
 * what the text finds first, once that is known.
 */
export function useChoice<T>(list: readonly T[], { keyOf, isCurrent, choose }: Of<T>) {
  const [chosen, setChosen] = useState("");
  /** What is taken once it is known what the text finds. */
  const [awaited, setAwaited] = useState<"first" | "only">();
  const at = list.findIndex((each) => keyOf(each) === chosen);
  const current = Math.max(0, at);
  const chooseAt = (place: number) => {
    const each = list[place];
    if (each !== undefined) choose(each);
  };
  useEffect(() => {
    if (awaited === undefined || !isCurrent) return;
    setAwaited(undefined);
    if (awaited === "first" || list.length === 1) chooseAt(0);
  });
  return {
    /** The place in the list of what Enter takes. */
    current,
    /** To be called when the text is another one. */
    reset() {
      setChosen("");
      setAwaited(undefined);
    },
    /** To be called when the field is left: what the text finds is taken if it is one thing. */
    leave() {
      setAwaited((before) => before ?? "only");
    },
    onKeyDown(event: KeyboardEvent) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        const next = list[Math.max(0, Math.min(list.length - 1, current + step))];
        if (next !== undefined) setChosen(keyOf(next));
      }
      const isForForm = isCurrent && list.length === 0;
      if (event.key !== "Enter" || isForForm) return;
      event.preventDefault();
      if (isCurrent || at >= 0) chooseAt(current);
      else setAwaited("first");
    },
  };
}
