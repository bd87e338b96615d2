import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { frozen } from "../eventstore/frozen.ts";

type Form = string | Uint8Array;
type Cached = { message?: Message; forms: Map<string, Form> };

const byInit = new WeakMap<object, Cached>();
const byMessage = new WeakMap<Message, Cached>();

/**
 * Says of what a handler answers that it will answer the same object again, and that nothing else makes the answer: its
 * message is made once, and frozen, and so is each form that it is written in.
 *
 * The query, and the making and the writing of the answer, are half of what a small read costs.
 */
export function cacheResponse<I extends object>(init: I): I {
  byInit.set(init, { forms: new Map() });
  return init;
}

/** The responses that are made of what a cached read gives: the same one for as long as the same is read. */
export function cachedResponse<S extends object, I extends object>(
  make: (source: S) => I,
): (source: S) => I {
  const responses = new WeakMap<S, I>();
  return (source) => {
    let response = responses.get(source);
    if (response === undefined) responses.set(source, (response = cacheResponse(make(source))));
    return response;
  };
}

/** The message that a handler's answer stands for. */
export function messageOf<D extends DescMessage>(type: D, init: MessageInitShape<D>): Message {
  const cached = byInit.get(init);
  if (cached === undefined) return create(type, init);
  if (cached.message === undefined) {
    cached.message = frozen(create(type, init));
    byMessage.set(cached.message, cached);
  }
  return cached.message;
}

/** A message in a form that is known by its name: of a cached response, the form is cached with it. */
export function writtenAs<F extends Form>(
  message: Message,
  form: string,
  write: (message: Message) => F,
): F {
  const forms = byMessage.get(message)?.forms;
  if (forms === undefined) return write(message);
  let written = forms.get(form);
  if (written === undefined) forms.set(form, (written = write(message)));
  // A form has one name and one type.
  return written as F;
}
