import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { frozen } from "../eventstore/frozen.ts";

type Form = string | Uint8Array;
type Kept = { message?: Message; forms: Map<string, Form> };

const keptInits = new WeakMap<object, Kept>();
const keptMessages = new WeakMap<Message, Kept>();

/**
 * Says of what a handler answers that it will answer the same object again, and that nothing else makes the answer: its
 * message is made once, and frozen, and so is each form that it is written in.
 *
 * The query, and the making and the writing of the answer, are half of what a small read costs.
 */
export function keepAnswer<I extends object>(init: I): I {
  keptInits.set(init, { forms: new Map() });
  return init;
}

/** The answers that are made of what a cached read gives: the same one for as long as the same is read. */
export function keptAnswer<S extends object, I extends object>(
  make: (source: S) => I,
): (source: S) => I {
  const answers = new WeakMap<S, I>();
  return (source) => {
    let answer = answers.get(source);
    if (answer === undefined) answers.set(source, (answer = keepAnswer(make(source))));
    return answer;
  };
}

/** The message that a handler's answer stands for. */
export function messageOf<D extends DescMessage>(type: D, init: MessageInitShape<D>): Message {
  const kept = keptInits.get(init);
  if (kept === undefined) return create(type, init);
  if (kept.message === undefined) {
    kept.message = frozen(create(type, init));
    keptMessages.set(kept.message, kept);
  }
  return kept.message;
}

/** A message in a form that is known by its name: of an answer that is kept, the form is kept with it. */
export function writtenAs<F extends Form>(
  message: Message,
  form: string,
  write: (message: Message) => F,
): F {
  const forms = keptMessages.get(message)?.forms;
  if (forms === undefined) return write(message);
  let written = forms.get(form);
  if (written === undefined) forms.set(form, (written = write(message)));
  // A form has one name and one type.
  return written as F;
}
