/**
 * Counts what a WGSL function has to do, from its text: operations by kind and bytes of storage buffers, with calls expanded
 * and loops of a literal number of turns multiplied out. Both sides of an `if` count, as they cost on drivers that run lanes in
 * vectors. An operator on a vector counts once a component. What stands under `if (lane == 0u` one lane does for the wave, under
 * `if (lane < 4u` four, so a lane's share of it counts.
 *
 * Free is what needs no arithmetic: names, swizzles, constructors, bitcasts, indices, conversions between u32 and i32; and what a
 * driver does when it compiles: operations on constants alone, MODE's among them where a kernel has it as a number, and `select`
 * by a constant. What else a driver may save counts: code that two operations share, results that nobody uses.
 */
import { type ByKind, builtIn, conversion, type Kind, kindOfOperator } from './kinds.ts';
import { readModule, type WgslModule } from './wgslModule.ts';
import { componentOf, elementOf, readType, type Tokens, vectorOf, widthOf } from './wgslTokens.ts';

export interface Operations {
  readonly operations: ByKind;
  /** Bytes read from and written to each storage buffer, by its name. */
  readonly reads: Readonly<Record<string, number>>;
  readonly writes: Readonly<Record<string, number>>;
  /** Loops whose number of turns the text does not say. */
  readonly openLoops: number;
}

/** Lanes of a wave. */
const WAVE = 64;

/**
 * Operations of each function of a linked module. Loops whose number of turns the text does not say have `openTurns`.
 * @throws SyntaxError on WGSL that it can't read, RangeError on a function that the module lacks
 */
export function operationCounter(wgsl: string, openTurns = 1): (name: string) => Operations {
  const module = readModule(wgsl);
  const known = new Map<string, Counted>();
  const countOf: CountOf = (name, constants) => {
    const key = `${name} ${constants}`;
    const before = known.get(key);
    if (before) return before;
    const text = module.functions.get(name);
    if (!text) throw new RangeError(`the module has no function '${name}'`);
    const names = new Map<string, Value>();
    for (const [parameter, type] of text.parameters)
      names.set(parameter, { type, constant: constants[names.size] ?? false });
    const counter = new Counter(module, countOf, new Sum(), names, openTurns);
    counter.statements(text.body.again());
    const counted = { sum: counter.sum, result: { type: text.result, constant: counter.returnsConstant } };
    known.set(key, counted);
    return counted;
  };
  return (name) => countOf(name, []).sum;
}

export const countOperations = (wgsl: string, name = 'main', openTurns = 1): Operations =>
  operationCounter(wgsl, openTurns)(name);

/** What stands for a value while counting: its type, and whether a driver knows it when it compiles. */
interface Value {
  readonly type: string;
  readonly constant: boolean;
}

/** What a function costs, and what it returns, where these parameters are constants. */
type CountOf = (name: string, constants: readonly boolean[]) => Counted;
interface Counted {
  readonly sum: Sum;
  readonly result: Value;
}

class Sum implements Operations {
  operations: Partial<Record<Kind, number>> = {};
  reads: Record<string, number> = {};
  writes: Record<string, number> = {};
  openLoops = 0;

  touch(way: 'reads' | 'writes', buffer: string, bytes: number): void {
    this[way][buffer] = (this[way][buffer] ?? 0) + bytes;
  }

  count(kind: Kind, times: number): void {
    this.operations[kind] = (this.operations[kind] ?? 0) + times;
  }

  add(more: Operations, times = 1): void {
    for (const [kind, count] of Object.entries(more.operations)) this.count(kind as Kind, count * times);
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
const NUMBER = /^(?:\d|\.\d)/;
const FREE = /^(?:bitcast|\w+Barrier|arrayLength|workgroupUniformLoad)$/;

/** Reads statements and expressions of one function and adds them up. Literals without a suffix have the type `int`. */
class Counter {
  readonly #module: WgslModule;
  readonly #countOf: CountOf;
  readonly #names: Map<string, Value>;
  readonly #openTurns: number;
  readonly sum: Sum;
  /** Every value returned is a constant. */
  returnsConstant = true;
  /** Storage buffer that the expression just read is a place in, and the place's type; it is read when its value is used. */
  #place: { readonly buffer: string; readonly type: string } | undefined;

  constructor(module: WgslModule, countOf: CountOf, sum: Sum, names: Map<string, Value>, openTurns: number) {
    this.#openTurns = openTurns;
    this.#module = module;
    this.#countOf = countOf;
    this.sum = sum;
    this.#names = names;
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
      const body = this.#inner();
      body.#value(tokens);
      body.#block(tokens);
      this.sum.openLoops++;
      this.#join(body, this.#openTurns);
    } else if (tokens.take('loop')) {
      this.sum.openLoops++;
      this.#block(tokens, this.#openTurns);
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
    const inner = this.#inner();
    inner.statements(tokens);
    this.#join(inner, share);
  }

  /** A counter for a part that counts another number of times than once. */
  #inner(): Counter {
    return new Counter(this.#module, this.#countOf, new Sum(), this.#names, this.#openTurns);
  }

  #join(inner: Counter, times: number): void {
    this.sum.add(inner.sum, times);
    this.returnsConstant &&= inner.returnsConstant;
  }

  #if(tokens: Tokens): void {
    const start = tokens.peek() === '(' ? 1 : 0;
    const condition = [0, 1, 2].map((i) => tokens.peek(start + i)).join(' ');
    const lanes = condition === 'lane == 0u' ? 1 : Number(/^lane < (\d+)u$/.exec(condition)?.[1] ?? WAVE);
    this.#value(tokens);
    this.#block(tokens, lanes / WAVE);
    if (!tokens.take('else')) return;
    if (tokens.take('if')) this.#if(tokens);
    else this.#block(tokens);
  }

  #for(tokens: Tokens): void {
    const head = tokens.skipBracket();
    const turns = this.#turns(tokens.since(head.at));
    const body = this.#inner();
    if (!head.take(';')) {
      this.#simple(head);
      head.expect(';');
    }
    if (head.peek() !== ';') body.#value(head);
    head.expect(';');
    if (head.peek() !== ')') body.#simple(head);
    body.#block(tokens);
    if (turns === undefined) this.sum.openLoops++;
    this.#join(body, turns ?? this.#openTurns);
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
    const changes = tokens.take('var');
    if (changes || tokens.take('let') || tokens.take('const')) {
      const name = tokens.next();
      const declared = tokens.take(':') ? readType(tokens) : undefined;
      const value = tokens.take('=') ? this.#value(tokens) : undefined;
      const constant = !changes && value?.constant === true;
      this.#names.set(name, { type: declared ?? value?.type ?? 'int', constant });
      return;
    }
    if (tokens.take('return')) {
      if (tokens.peek() === ';' || !this.#value(tokens).constant) this.returnsConstant = false;
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
    const changed = this.#unary(tokens);
    const place = this.#place;
    const operator = tokens.peek();
    if (operator === '=' || ASSIGNMENT.test(operator) || operator === '++' || operator === '--') {
      tokens.next();
      if (operator !== '=') {
        if (place) this.sum.touch('reads', place.buffer, 4 * widthOf(place.type));
        this.#operator(
          operator.slice(0, operator.startsWith('<<') || operator.startsWith('>>') ? 2 : 1),
          changed,
          operator.endsWith('=') ? this.#value(tokens) : changed,
        );
      } else this.#value(tokens);
      if (place) this.sum.touch('writes', place.buffer, 4 * widthOf(place.type));
    }
    this.#place = undefined;
  }

  /** Reads an expression whose value is used. */
  #value(tokens: Tokens): Value {
    return this.#binary(tokens, 0);
  }

  #binary(tokens: Tokens, level: number): Value {
    if (level === LEVELS.length) return this.#used(this.#unary(tokens));
    let left = this.#binary(tokens, level + 1);
    while (LEVELS[level]!.includes(tokens.peek()))
      left = this.#operator(tokens.next(), left, this.#binary(tokens, level + 1));
    return left;
  }

  /** A place in a storage buffer is read. */
  #used(value: Value): Value {
    if (this.#place) this.sum.touch('reads', this.#place.buffer, 4 * widthOf(value.type));
    this.#place = undefined;
    return value;
  }

  #operator(operator: string, left: Value, right: Value): Value {
    const width = Math.max(widthOf(left.type), widthOf(right.type));
    const [first, second] = [componentOf(left.type), componentOf(right.type)];
    const component = first === 'int' ? second : first;
    const constant = left.constant && right.constant;
    if (!constant) this.sum.count(kindOfOperator(operator, component), width);
    return { type: vectorOf(COMPARISON.test(operator) ? 'bool' : component, width), constant };
  }

  #unary(tokens: Tokens): Value {
    const operator = tokens.peek();
    if (operator === '&' || operator === '*') {
      tokens.next();
      const { type } = this.#unary(tokens);
      const target = operator === '*' ? /^ptr<\w+,(.*?)(?:,\w+)?>$/.exec(type)?.[1] : undefined;
      return { type: target ?? type, constant: false };
    }
    if (operator === '-' || operator === '~' || operator === '!') {
      tokens.next();
      const value = this.#used(this.#unary(tokens));
      if (!value.constant) this.sum.count(kindOfOperator('-', componentOf(value.type)), widthOf(value.type));
      return value;
    }
    return this.#members(tokens, this.#primary(tokens));
  }

  /** `.name` and `[index]` behind an expression. */
  #members(tokens: Tokens, first: Value): Value {
    let { type, constant } = first;
    for (;;) {
      if (tokens.take('.')) {
        const name = tokens.next();
        const member = this.#module.structs.get(type)?.get(name);
        type = member ?? vectorOf(componentOf(type), name.length);
      } else if (tokens.take('[')) {
        const place = this.#place;
        this.#place = undefined;
        constant = this.#value(tokens).constant && constant;
        tokens.expect(']');
        type = elementOf(type);
        this.#place = place && { buffer: place.buffer, type };
      } else return { type, constant };
    }
  }

  #primary(tokens: Tokens): Value {
    this.#place = undefined;
    const word = tokens.next();
    if (word === '(') {
      const value = this.#value(tokens);
      tokens.expect(')');
      return value;
    }
    if (NUMBER.test(word)) return { type: literalType(word), constant: true };
    if (word === 'true' || word === 'false') return { type: 'bool', constant: true };
    if (tokens.peek() === '(' || (tokens.peek() === '<' && /^(?:vec[234]|array|bitcast)$/.test(word)))
      return this.#call(word, tokens);
    const local = this.#names.get(word);
    if (local !== undefined) return local;
    const value = this.#global(word);
    if (this.#module.storage.has(word)) this.#place = { buffer: word, type: value.type };
    return value;
  }

  #global(name: string): Value {
    const known = this.#module.globals.get(name);
    if (known === undefined) throw new SyntaxError(`WGSL: '${name}' is not declared`);
    const constant = this.#module.constants.has(name);
    if (typeof known === 'string') return { type: known, constant };
    const alone = new Counter(this.#module, this.#countOf, new Sum(), new Map(), 1);
    return { type: alone.#value(known.again()).type, constant };
  }

  #call(name: string, tokens: Tokens): Value {
    const template = tokens.peek() === '<' ? readTemplate(name, tokens) : undefined;
    tokens.expect('(');
    if (name.startsWith('atomic')) return this.#atomic(name, tokens);
    const values: Value[] = [];
    while (!tokens.take(')')) {
      values.push(this.#value(tokens));
      tokens.take(',');
    }
    const called = this.#module.functions.has(name);
    if (called) {
      const { sum, result } = this.#countOf(
        name,
        values.map((value) => value.constant),
      );
      this.sum.add(sum);
      return result;
    }
    const constant = values.length > 0 && values.every((value) => value.constant);
    const types = values.map((value) => value.type);
    if (template !== undefined && name !== 'bitcast') return { type: template, constant };
    if (this.#module.structs.has(name) || /^(?:vec[234]|array)/.test(name))
      return { type: constructed(name, types), constant };
    if (FREE.test(name)) return { type: template ?? 'u32', constant };
    if (/^(?:u32|i32|f32|bool)$/.test(name)) {
      const kind = constant ? undefined : conversion(types[0] ?? 'int', name);
      if (kind !== undefined) this.sum.count(kind, 1);
      return { type: name, constant };
    }
    return { type: this.#builtIn(name, values, constant), constant };
  }

  /** Counts a built-in function, and gives the type of its result. */
  #builtIn(name: string, values: readonly Value[], constant: boolean): string {
    const type = values.find((value) => value.type !== 'int')?.type ?? 'int';
    const isFolded = constant || (name === 'select' && values[2]?.constant === true);
    const [kind, times] = builtIn(name, componentOf(type));
    if (!isFolded) this.sum.count(kind, times * widthOf(type));
    return name === 'all' || name === 'any' ? 'bool' : type;
  }

  /** A load reads, a store writes, the others do both and compute. */
  #atomic(name: string, tokens: Tokens): Value {
    tokens.take('&');
    this.#unary(tokens);
    const place = this.#place;
    this.#place = undefined;
    while (tokens.take(',')) this.#value(tokens);
    tokens.expect(')');
    const [reads, writes] = [name !== 'atomicStore', name !== 'atomicLoad'];
    if (reads && writes) this.sum.count('u32-add', 1);
    if (place && reads) this.sum.touch('reads', place.buffer, 4);
    if (place && writes) this.sum.touch('writes', place.buffer, 4);
    return { type: 'u32', constant: false };
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
