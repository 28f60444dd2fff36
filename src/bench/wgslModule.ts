/** The declarations of a linked WGSL module: as much as counting its operations needs. */
import { readType, Tokens } from './wgslTokens.ts';

export interface WgslFunctionText {
  /** Names and types. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly result: string;
  /** Stands behind the opening brace. */
  readonly body: Tokens;
}

export interface WgslModule {
  readonly functions: ReadonlyMap<string, WgslFunctionText>;
  /** Types of members by struct. */
  readonly structs: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Types of module-scope variables and constants; of a constant without one, its expression. */
  readonly globals: ReadonlyMap<string, string | Tokens>;
  readonly storage: ReadonlySet<string>;
  readonly constants: ReadonlySet<string>;
  /** Constants that are a literal. */
  readonly literals: ReadonlyMap<string, number>;
}

const NUMBER = /^\d/;

/** @throws SyntaxError on what is no WGSL */
export function readModule(wgsl: string): WgslModule {
  const tokens = Tokens.of(wgsl);
  const functions = new Map<string, WgslFunctionText>();
  const structs = new Map<string, ReadonlyMap<string, string>>();
  const globals = new Map<string, string | Tokens>();
  const storage = new Set<string>();
  const constants = new Set<string>();
  const literals = new Map<string, number>();

  const variable = (word: string) => {
    const space = tokens.take('<') ? tokens.skipTo('>')[0] : undefined;
    if (space !== undefined) tokens.expect('>');
    const name = tokens.next();
    if (space === 'storage') storage.add(name);
    if (word === 'const') constants.add(name);
    const type = tokens.take(':') ? readType(tokens) : undefined;
    if (tokens.take('=')) {
      const value = tokens.skipTo(';');
      if (value.length === 1 && NUMBER.test(value[0]!)) literals.set(name, Number(value[0]!.replace(/[ui]$/, '')));
      globals.set(name, type ?? new Tokens(value));
    } else if (type !== undefined) globals.set(name, type);
    tokens.expect(';');
  };

  while (!tokens.ended) {
    skipAttributes(tokens);
    const word = tokens.next();
    if (word === 'struct') structs.set(tokens.next(), readNames(tokens));
    else if (word === 'fn') {
      const name = tokens.next();
      const parameters = readNames(tokens);
      skipAttributesAfter(tokens, '->');
      const result = tokens.peek() === '{' ? 'void' : readType(tokens);
      functions.set(name, { parameters, result, body: tokens.skipBracket() });
    } else if (word === 'var' || word === 'const' || word === 'override') variable(word);
    else if (word !== ';') tokens.skipTo(';');
  }
  return { functions, structs, globals, storage, constants, literals };
}

function skipAttributes(tokens: Tokens): void {
  while (tokens.take('@')) {
    tokens.next();
    if (tokens.peek() === '(') tokens.skipBracket();
  }
}

function skipAttributesAfter(tokens: Tokens, word: string): void {
  if (tokens.take(word)) skipAttributes(tokens);
}

/** `(a: T, b: U)` of a function or `{ a: T, b: U }` of a struct. */
function readNames(tokens: Tokens): Map<string, string> {
  const names = new Map<string, string>();
  const end = tokens.next() === '(' ? ')' : '}';
  while (!tokens.take(end)) {
    skipAttributes(tokens);
    const name = tokens.next();
    tokens.expect(':');
    names.set(name, readType(tokens));
    tokens.take(',');
  }
  return names;
}
