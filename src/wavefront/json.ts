/** JSON with places: where a text stops being JSON, and how a path into a document is written. */

export interface JsonProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Tokens of RFC 8259; the last alternative catches what is none. */
const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON's strings must not hold them
  /[ \t\r\n]+|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]|[\s\S]/y;

const PUNCTUATION = '{}[],:';

/**
 * The first place where `text` is no JSON, with what was expected there; undefined for JSON.
 * (`JSON.parse` names a position in some of its messages only.)
 */
export function findJsonProblem(text: string): JsonProblem | undefined {
  const open: ('{' | '[')[] = [];
  let expected = ['value'];
  const afterValue = () => (open.length === 0 ? ['end of file'] : [',', open.at(-1) === '{' ? '}' : ']']);
  TOKEN.lastIndex = 0;
  for (;;) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined)
      return expected[0] === 'end of file' ? undefined : problemAt(text, at, 'file ends', expected);
    if (/^\s/.test(token)) continue;
    const isString = token.length > 1 && token.startsWith('"');
    const isValue = isString || token === '{' || token === '[' || /^[-\dtfn]./.test(token) || /^\d$/.test(token);
    const fits = expected.some((e) => (e === 'value' ? isValue : e === 'key' ? isString : e === token));
    if (!fits) return problemAt(text, at, describe(token), expected);
    if (token === ',') expected = open.at(-1) === '{' ? ['key'] : ['value'];
    else if (token === ':') expected = ['value'];
    else if (token === '{' || token === '[') {
      open.push(token);
      expected = token === '{' ? ['key', '}'] : ['value', ']'];
    } else if (token === '}' || token === ']') {
      open.pop();
      expected = afterValue();
    } else expected = isString && expected.includes('key') ? [':'] : afterValue();
  }
}

const describe = (token: string) =>
  token === '"' ? 'a string that does not end in its line' : `unexpected ${JSON.stringify(token.slice(0, 20))}`;

function problemAt(text: string, at: number, what: string, expected: readonly string[]): JsonProblem {
  const before = text.slice(0, at).split('\n');
  const names = expected.map((e) =>
    PUNCTUATION.includes(e) ? `'${e}'` : e === 'key' ? 'a key in quotes' : e === 'value' ? 'a value' : e,
  );
  return {
    line: before.length,
    column: before.at(-1)!.length + 1,
    message: `no JSON: ${what}; allowed: ${names.join(' or ')}`,
  };
}

/** `waves[3].v.0[17]`; `(top)` for the document itself. */
export function jsonPath(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return text.replace(/^\./, '') || '(top)';
}
