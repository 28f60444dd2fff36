/** The words of a WGSL text, and its types as short names: `vec2u` for `vec2<u32>`, `vec2b` for `vec2<bool>`, `array<u32>`, ... */

const TOKEN =
  /\/\/[^\n]*|0x[0-9a-fA-F]+[ui]?|(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?[uifh]?|[A-Za-z_]\w*|<<=|>>=|&&|\|\||<<|>>|[<>=!]=|\+\+|--|[-+*/%&|^]=|->|[^\s]/g;

/** A cursor over the words of a WGSL text. */
export class Tokens {
  readonly #words: readonly string[];
  #at: number;
  #halfTaken = false;

  constructor(words: readonly string[], at = 0) {
    this.#words = words;
    this.#at = at;
  }

  static of(wgsl: string): Tokens {
    return new Tokens((wgsl.match(TOKEN) ?? []).filter((word) => !word.startsWith('//')));
  }

  /** The same place for another reader. */
  again(): Tokens {
    return new Tokens(this.#words, this.#at);
  }

  /** The same text from one word earlier. */
  back(): Tokens {
    this.#at--;
    return this;
  }

  /** The words from `from` up to here. */
  since(from: number): string {
    return this.#words.slice(from, this.#at).join(' ');
  }

  get at(): number {
    return this.#at;
  }
  get ended(): boolean {
    return this.#at >= this.#words.length;
  }

  /** The word `ahead` places from here, empty after the end. */
  peek(ahead = 0): string {
    return this.#words[this.#at + ahead] ?? '';
  }

  next(): string {
    return this.#words[this.#at++] ?? '';
  }

  /** Takes the word if it is this one. */
  take(word: string): boolean {
    if (this.peek() !== word) return false;
    this.#at++;
    return true;
  }

  /** Takes the `>` that closes a list of types; of two that stand together the first. */
  takeClosing(): boolean {
    if (this.peek() === '>>' && !this.#halfTaken) {
      this.#halfTaken = true;
      return true;
    }
    if (!this.#halfTaken) return this.take('>');
    this.#halfTaken = false;
    this.#at++;
    return true;
  }

  /** @throws SyntaxError if another word stands here */
  expect(word: string): void {
    const found = this.next();
    if (found !== word) {
      const context = this.#words.slice(Math.max(0, this.#at - 8), this.#at + 4).join(' ');
      throw new SyntaxError(`WGSL: '${word}' expected, not '${found}', in: ${context}`);
    }
  }

  /** Passes over a bracketed text, of which the opening bracket stands here; gives a cursor on its inside and its length. */
  skipBracket(): Tokens {
    const inside = new Tokens(this.#words, this.#at + 1);
    let depth = 0;
    do {
      const word = this.next();
      if ('([{'.includes(word)) depth++;
      else if (')]}'.includes(word)) depth--;
    } while (depth > 0 && !this.ended);
    return inside;
  }

  /** Words from here up to one of these, at this depth of brackets; the cursor stands on it then. */
  skipTo(...stops: readonly string[]): readonly string[] {
    const from = this.#at;
    while (!this.ended && !stops.includes(this.peek())) {
      if ('([{'.includes(this.peek())) this.skipBracket();
      else this.#at++;
    }
    return this.#words.slice(from, this.#at);
  }
}

const LETTER: Readonly<Record<string, string>> = { u32: 'u', i32: 'i', f32: 'f', bool: 'b' };

/** Reads a type, of which the first word stands here. */
export function readType(tokens: Tokens): string {
  const name = tokens.next();
  if (!tokens.take('<')) return name;
  const args: string[] = [];
  while (!tokens.takeClosing()) {
    args.push(readType(tokens));
    tokens.take(',');
  }
  if (/^vec[234]$/.test(name)) return name + LETTER[args[0]!]!;
  return name === 'atomic' ? args[0]! : `${name}<${args.join(',')}>`;
}

/** Components of a type: 2 to 4 for a vector, else 1. */
export const widthOf = (type: string): number => (/^vec[234][uifb]$/.test(type) ? Number(type[3]) : 1);

const SCALAR: Readonly<Record<string, string>> = { u: 'u32', i: 'i32', f: 'f32', b: 'bool' };

/** Type of a component. */
export const componentOf = (type: string): string => (widthOf(type) > 1 ? SCALAR[type[4]!]! : type);

/** The type with so many components of this type. */
export const vectorOf = (component: string, width: number): string =>
  width === 1 ? component : `vec${width}${LETTER[component] ?? 'u'}`;

/** What an index into this type gives. */
export function elementOf(type: string): string {
  if (widthOf(type) > 1) return componentOf(type);
  const array = /^array<(.*?)(?:,[^,>]*)?>$/.exec(type);
  return array?.[1] ?? type;
}
