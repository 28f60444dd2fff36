/**
 * Counts what a WGSL function has to do, from its text: arithmetic operators and bytes of storage buffers, with calls expanded
 * and loops of a literal number of turns multiplied out. Both sides of an `if` count, as they cost on drivers that run lanes in
 * vectors. An operator on a vector counts once a component. What stands under `if (lane == 0u` one lane does for the wave, so a
 * lane's share of it counts.
 *
 * Free is what needs no arithmetic: names, swizzles, constructors, bitcasts, indices, conversions between u32 and i32.
 */
import { readModule, type WgslModule } from './wgslModule.ts';
import { componentOf, elementOf, readType, type Tokens, vectorOf, widthOf } from './wgslTokens.ts';

export interface Operations {
  /** Integer multiplications of 32 bits. */
  readonly multiplies: number;
  /** All other operators and arithmetic built-ins. */
  readonly others: number;
  /** Bytes read from and written to each storage buffer, by its name. */
  readonly reads: Readonly<Record<string, number>>;
  readonly writes: Readonly<Record<string, number>>;
  /** Loops whose number of turns the text does not say; their bodies counted once. */
  readonly openLoops: number;
}

/** Lanes of a wave. */
const WAVE = 64;

/**
 * Operations of each function of a linked module.
 * @throws SyntaxError on WGSL that it can't read, RangeError on a function that the module lacks
 */
export function operationCounter(wgsl: string): (name: string) => Operations {
  const module = readModule(wgsl);
  const known = new Map<string, Sum>();
  const countOf = (name: string): Sum => {
    let sum = known.get(name);
    if (sum) return sum;
    const text = module.functions.get(name);
    if (!text) throw new RangeError(`the module has no function '${name}'`);
    sum = new Sum();
    known.set(name, sum);
    new Counter(module, countOf, sum, new Map(text.parameters)).statements(text.body.again());
    return sum;
  };
  return countOf;
}

export const countOperations = (wgsl: string, name = 'main'): Operations => operationCounter(wgsl)(name);

class Sum implements Operations {
  multiplies = 0;
  others = 0;
  reads: Record<string, number> = {};
  writes: Record<string, number> = {};
  openLoops = 0;

  touch(way: 'reads' | 'writes', buffer: string, bytes: number): void {
    this[way][buffer] = (this[way][buffer] ?? 0) + bytes;
  }

  add(more: Operations, times = 1): void {
    this.multiplies += more.multiplies * times;
    this.others += more.others * times;
    for (const way of ['reads', 'writes'] as const)
      for (const [buffer, bytes] of Object.entries(more[way])) this.touch(way, buffer, bytes * times);
    this.openLoops += more.openLoops;
  }
}

/** Binary operators, those that bind loosest first. */
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<', '>', '<=', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];
const COMPARISON = /^[<>=!]=?$/;
const ASSIGNMENT = /^(?:[-+*/%&|^]|<<|>>)=$/;
const INTEGER = /^(?:u32|i32|int)$/;
const NUMBER = /^(?:\d|\.\d)/;
const FREE = /^(?:bitcast|\w+Barrier|arrayLength|workgroupUniformLoad)$/;
/** Built-ins of more than one operation a component. */
const COSTS: Readonly<Record<string, number>> = { clamp: 2, extractBits: 2, insertBits: 4 };

/** Reads statements and expressions of one function and adds them up. Literals without a suffix have the type `int`. */
class Counter {
  readonly #module: WgslModule;
  readonly #countOf: (name: string) => Operations;
  readonly #sum: Sum;
  readonly #types: Map<string, string>;
  /** Storage buffer that the expression just read is a place in, and the place's type; it is read when its value is used. */
  #place: { readonly buffer: string; readonly type: string } | undefined;

  constructor(module: WgslModule, countOf: (name: string) => Operations, sum: Sum, types: Map<string, string>) {
    this.#module = module;
    this.#countOf = countOf;
    this.#sum = sum;
    this.#types = types;
  }

  /** Up to the closing brace, which is taken. */
  statements(tokens: Tokens): void {
    while (!tokens.ended && !tokens.take('}')) this.#statement(tokens);
  }

  #statement(tokens: Tokens): void {
    if (tokens.peek() === '{') this.#block(tokens);
    else if (tokens.take('if')) this.#if(tokens);
    else if (tokens.take('for')) this.#for(tokens);
    else if (tokens.take('while')) {
      this.#sum.openLoops++;
      this.#value(tokens);
      this.#block(tokens);
    } else if (tokens.take('loop')) {
      this.#sum.openLoops++;
      this.#block(tokens);
    } else if (tokens.take('switch')) this.#switch(tokens);
    else if (tokens.take('continuing')) this.#block(tokens);
    else {
      this.#simple(tokens);
      tokens.take(';');
    }
  }

  /** @param share of the block that counts */
  #block(tokens: Tokens, share = 1): void {
    tokens.expect('{');
    const once = new Sum();
    new Counter(this.#module, this.#countOf, once, this.#types).statements(tokens);
    this.#sum.add(once, share);
  }

  #if(tokens: Tokens): void {
    const start = tokens.peek() === '(' ? 1 : 0;
    const oneLane = [0, 1, 2].map((i) => tokens.peek(start + i)).join(' ') === 'lane == 0u';
    this.#value(tokens);
    this.#block(tokens, oneLane ? 1 / WAVE : 1);
    if (!tokens.take('else')) return;
    if (tokens.take('if')) this.#if(tokens);
    else this.#block(tokens);
  }

  #for(tokens: Tokens): void {
    const head = tokens.skipBracket();
    const turns = this.#turns(tokens.since(head.at));
    const once = new Sum();
    const body = new Counter(this.#module, this.#countOf, once, this.#types);
    if (!head.take(';')) {
      this.#simple(head);
      head.expect(';');
    }
    if (head.peek() !== ';') body.#value(head);
    head.expect(';');
    if (head.peek() !== ')') body.#simple(head);
    body.#block(tokens);
    if (turns === undefined) this.#sum.openLoops++;
    this.#sum.add(once, turns ?? 1);
  }

  /** Turns of `for (var i = A; i < B; i++)` or `i += C`, where these are literals. */
  #turns(head: string): number | undefined {
    const match = /^var (\w+) (?:: \w+ )?= (\w+) ; \1 < (\w+) ; \1 (?:\+\+|\+= (\w+)) \)$/.exec(head);
    if (!match) return undefined;
    const [from, to, step] = [match[2]!, match[3]!, match[4] ?? '1'].map(
      (word) => this.#module.literals.get(word) ?? Number(word.replace(/[ui]$/, '')),
    );
    const turns = Math.ceil((to! - from!) / step!);
    return turns >= 0 ? turns : undefined;
  }

  #switch(tokens: Tokens): void {
    this.#value(tokens);
    tokens.expect('{');
    while (!tokens.take('}')) {
      if (tokens.peek() === '{') this.#block(tokens);
      else tokens.next();
    }
  }

  /** Declaration, assignment, call, return, break. */
  #simple(tokens: Tokens): void {
    if (tokens.take('let') || tokens.take('var') || tokens.take('const')) {
      const name = tokens.next();
      const declared = tokens.take(':') ? readType(tokens) : undefined;
      const type = tokens.take('=') ? this.#value(tokens) : undefined;
      this.#types.set(name, declared ?? type ?? 'int');
      return;
    }
    if (tokens.take('return')) {
      if (tokens.peek() !== ';') this.#value(tokens);
      return;
    }
    if (tokens.take('break')) {
      if (tokens.take('if')) this.#value(tokens);
      return;
    }
    if (tokens.take('continue') || tokens.take('discard')) return;
    if (tokens.take('_')) {
      tokens.expect('=');
      this.#value(tokens);
      return;
    }
    const type = this.#unary(tokens);
    const place = this.#place;
    const operator = tokens.peek();
    if (operator === '=' || ASSIGNMENT.test(operator) || operator === '++' || operator === '--') {
      tokens.next();
      if (operator !== '=') {
        if (place) this.#sum.touch('reads', place.buffer, 4 * widthOf(place.type));
        this.#operator(operator[0]!, type, operator.endsWith('=') ? this.#value(tokens) : type);
      } else this.#value(tokens);
      if (place) this.#sum.touch('writes', place.buffer, 4 * widthOf(place.type));
    }
    this.#place = undefined;
  }

  /** Reads an expression whose value is used. */
  #value(tokens: Tokens): string {
    return this.#binary(tokens, 0);
  }

  #binary(tokens: Tokens, level: number): string {
    if (level === LEVELS.length) return this.#used(this.#unary(tokens));
    let left = this.#binary(tokens, level + 1);
    while (LEVELS[level]!.includes(tokens.peek()))
      left = this.#operator(tokens.next(), left, this.#binary(tokens, level + 1));
    return left;
  }

  /** A place in a storage buffer is read. */
  #used(type: string): string {
    if (this.#place) this.#sum.touch('reads', this.#place.buffer, 4 * widthOf(type));
    this.#place = undefined;
    return type;
  }

  #operator(operator: string, left: string, right: string): string {
    const width = Math.max(widthOf(left), widthOf(right));
    const component = componentOf(left) === 'int' ? componentOf(right) : componentOf(left);
    if (operator === '*' && INTEGER.test(component)) this.#sum.multiplies += width;
    else this.#sum.others += width;
    return vectorOf(COMPARISON.test(operator) ? 'bool' : component, width);
  }

  #unary(tokens: Tokens): string {
    const operator = tokens.peek();
    if (operator === '&' || operator === '*') {
      tokens.next();
      const type = this.#unary(tokens);
      if (operator === '&') return type;
      return /^ptr<\w+,(.*?)(?:,\w+)?>$/.exec(type)?.[1] ?? type;
    }
    if (operator === '-' || operator === '~' || operator === '!') {
      tokens.next();
      const literal = NUMBER.test(tokens.peek());
      const type = this.#used(this.#unary(tokens));
      if (!literal) this.#sum.others += widthOf(type);
      return type;
    }
    return this.#members(tokens, this.#primary(tokens));
  }

  /** `.name` and `[index]` behind an expression. */
  #members(tokens: Tokens, first: string): string {
    let type = first;
    for (;;) {
      if (tokens.take('.')) {
        const name = tokens.next();
        const member = this.#module.structs.get(type)?.get(name);
        type = member ?? vectorOf(componentOf(type), name.length);
      } else if (tokens.take('[')) {
        const place = this.#place;
        this.#place = undefined;
        this.#value(tokens);
        tokens.expect(']');
        type = elementOf(type);
        this.#place = place && { buffer: place.buffer, type };
      } else return type;
    }
  }

  #primary(tokens: Tokens): string {
    this.#place = undefined;
    const word = tokens.next();
    if (word === '(') {
      const type = this.#value(tokens);
      tokens.expect(')');
      return type;
    }
    if (NUMBER.test(word)) return literalType(word);
    if (word === 'true' || word === 'false') return 'bool';
    if (tokens.peek() === '(' || (tokens.peek() === '<' && /^(?:vec[234]|array|bitcast)$/.test(word)))
      return this.#call(word, tokens);
    const local = this.#types.get(word);
    if (local !== undefined) return local;
    const type = this.#global(word);
    if (this.#module.storage.has(word)) this.#place = { buffer: word, type };
    return type;
  }

  /** A constant costs nothing, however it is written. */
  #global(name: string): string {
    const known = this.#module.globals.get(name);
    if (known === undefined) throw new SyntaxError(`WGSL: '${name}' is not declared`);
    if (typeof known === 'string') return known;
    return new Counter(this.#module, this.#countOf, new Sum(), new Map()).#value(known.again());
  }

  #call(name: string, tokens: Tokens): string {
    const template = tokens.peek() === '<' ? readTemplate(name, tokens) : undefined;
    tokens.expect('(');
    if (name.startsWith('atomic')) return this.#atomic(name, tokens);
    const types: string[] = [];
    while (!tokens.take(')')) {
      types.push(this.#value(tokens));
      tokens.take(',');
    }
    const called = this.#module.functions.get(name);
    if (called) {
      this.#sum.add(this.#countOf(name));
      return called.result;
    }
    if (template !== undefined && name !== 'bitcast') return template;
    if (this.#module.structs.has(name) || /^(?:vec[234]|array)/.test(name)) return constructed(name, types);
    if (FREE.test(name)) return template ?? 'u32';
    if (/^(?:u32|i32|f32|bool)$/.test(name)) {
      const from = types[0] ?? 'int';
      if (from !== name && !(INTEGER.test(from) && INTEGER.test(name))) this.#sum.others++;
      return name;
    }
    const type = types.find((t) => t !== 'int') ?? 'int';
    this.#sum.others += (COSTS[name] ?? 1) * widthOf(type);
    return name === 'all' || name === 'any' ? 'bool' : type;
  }

  /** A load reads, a store writes, the others do both and compute. */
  #atomic(name: string, tokens: Tokens): string {
    tokens.take('&');
    this.#unary(tokens);
    const place = this.#place;
    this.#place = undefined;
    while (tokens.take(',')) this.#value(tokens);
    tokens.expect(')');
    const [reads, writes] = [name !== 'atomicStore', name !== 'atomicLoad'];
    if (reads && writes) this.#sum.others++;
    if (place && reads) this.#sum.touch('reads', place.buffer, 4);
    if (place && writes) this.#sum.touch('writes', place.buffer, 4);
    return 'u32';
  }
}

function literalType(word: string): string {
  if (word.endsWith('u')) return 'u32';
  if (word.startsWith('0x')) return word.endsWith('i') ? 'i32' : 'int';
  if (word.endsWith('i')) return 'i32';
  return /[.efh]/.test(word) ? 'f32' : 'int';
}

/** The type of `vec2<u32>(`, `array<u32, 4>(` or `bitcast<i32>(`, of which the name is read already. */
function readTemplate(name: string, tokens: Tokens): string {
  const type = readType(tokens.back());
  return name === 'bitcast' ? /<(.*)>/.exec(type)![1]! : type;
}

function constructed(name: string, types: readonly string[]): string {
  if (/^vec[234]$/.test(name)) return vectorOf(componentOf(types[0] ?? 'u32'), Number(name[3]));
  return name === 'array' ? `array<${types[0] ?? 'u32'}>` : name;
}
