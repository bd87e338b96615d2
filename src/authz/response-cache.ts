import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { frozen } from "../eventstore/frozen.ts";

type Form = string | Uint8Array;

/** What a call is answered: a message, and with a cached one the forms that it was written in. */
export type Response = { readonly message: Message; readonly forms: Map<string, Form> | undefined };

/**
 * What a handler answers again and again, where nothing else makes the answer: its message is made once, and frozen, and so is
 * each form that it is written in.
 *
 * The query, and the making and the writing of the answer, are half of what a small read costs.
 */
export class CachedResponse<I extends object> {
  readonly init: I;
  #response: Response | undefined;
  constructor(init: I) {
    this.init = init;
  }
  as(type: DescMessage): Response {
    return (this.#response ??= {
      message: frozen(made(type, this.init)),
      forms: new Map(),
    });
  }
}

/** The responses that are made of what a cached read gives: the same one for as long as the same is read. */
export function cachedResponse<S extends object, I extends object>(
  make: (source: S) => I,
): (source: S) => CachedResponse<I> {
  const responses = new WeakMap<S, CachedResponse<I>>();
  return (source) => {
    let response = responses.get(source);
    if (response === undefined) {
      responses.set(source, (response = new CachedResponse(make(source))));
    }
    return response;
  };
}

/** The response that a handler's answer stands for. */
export const responseOf = (type: DescMessage, answer: object): Response =>
  answer instanceof CachedResponse
    ? answer.as(type)
    : { message: made(type, answer), forms: undefined };

// A handler's answer is of the type that the descriptor of its method says (service.ts).
const made = (type: DescMessage, init: object): Message =>
  create(type, init as MessageInitShape<DescMessage>);

/** A response in a form that is known by its name: of a cached one, the form is cached with it. */
export function writtenAs<F extends Form>(
  { message, forms }: Response,
  form: string,
  write: (message: Message) => F,
): F {
  if (forms === undefined) return write(message);
  let written = forms.get(form);
  if (written === undefined) forms.set(form, (written = write(message)));
  // A form has one name and one type.
  return written as F;
}
