/** Vector files: known answers of single instructions, as JSON and as TestFloat prints them. */
import { z } from 'zod';
import { findJsonProblem, jsonPath } from '../wavefront/json.ts';
import { KERNEL_MODE, MODE_DX10_CLAMP, MODE_IEEE } from '../wavefront/mode.ts';
import { modeOf, type RoundName } from './demonstration.ts';

export interface VectorCase {
  /** Where it stands in its file: `12` a line, `[3].out` a JSON path. */
  readonly place: string;
  /** Words, low first, of each source. */
  readonly sources: readonly (readonly number[])[];
  /** VCC bit that the instruction reads. */
  readonly vcc?: number;
  /** Words of the result, low first; `nan` for any NaN. */
  readonly result?: readonly number[] | 'nan';
  /** Bit that it writes to VCC. */
  readonly flag?: number;
}

/** Cases of one operation that run as one batch. */
export interface VectorGroup {
  /** An instruction's or an operation's name. */
  readonly operation: string;
  /** The targets that must give these answers; empty for any. */
  readonly targets: readonly string[];
  readonly mode: number;
  /** A NaN result may be any NaN. */
  readonly anyNan: boolean;
  readonly cases: readonly VectorCase[];
}

/** A hash of the results over a range of one-word sources: h = 14695981039346656037; per result h = ((h xor word) * 1099511628211) mod 2^64. */
export interface VectorDigest {
  readonly place: string;
  readonly operation: string;
  readonly targets: readonly string[];
  readonly first: number;
  readonly count: number;
  readonly hash: string;
}

export interface VectorFile {
  readonly groups: readonly VectorGroup[];
  readonly digests: readonly VectorDigest[];
}

/** What is wrong with a vector file: `at` is `:line:column:` or `: path`. */
export class VectorFileError extends Error {
  readonly at: string;
  constructor(at: string, message: string) {
    super(message);
    this.name = 'VectorFileError';
    this.at = at;
  }
}

/** Words, low first, of hex digits, 8 or 16 of them. */
const wordsOfHex = (hex: string): number[] => {
  const digits = hex.replace(/^0x/i, '').padStart(hex.length > 10 ? 16 : 8, '0');
  const low = Number.parseInt(digits.slice(-8), 16);
  return digits.length > 8 ? [low, Number.parseInt(digits.slice(0, -8), 16)] : [low];
};

const allowed = (text: string) => ({
  error: ({ input }: { input?: unknown }) => `is ${JSON.stringify(input)?.slice(0, 60) ?? 'missing'}; allowed: ${text}`,
});
const value = z
  .string(allowed('0x and 8 or 16 hex digits'))
  .regex(/^0x([0-9a-fA-F]{8}|[0-9a-fA-F]{16})$/, allowed('0x and 8 or 16 hex digits'));
const bits = (name: string) =>
  z
    .int(allowed(`${name}, 0 to 3`))
    .min(0, allowed(`${name}, 0 to 3`))
    .max(3, allowed(`${name}, 0 to 3`));

const rowSchema = z.object(
  {
    instr: z.string(allowed('a mnemonic')),
    gen: z.string(allowed('targets, with commas')),
    kind: z.literal('digest', allowed('"digest"')).optional(),
    in: z
      .array(z.string(), allowed('an array of words'))
      .min(1, allowed('at least one source'))
      .max(3, allowed('at most three sources')),
    out: z.string(allowed('a word or "NaN"')),
    vcc: z.union([z.literal(0), z.literal(1)], allowed('0 or 1')).optional(),
    mode: z
      .object(
        { round: bits('a rounding mode'), denorm32: bits('denormal bits'), denorm16_64: bits('denormal bits') },
        allowed('an object with round, denorm32, denorm16_64'),
      )
      .optional(),
  },
  allowed('an object with instr, gen, in, out'),
);

type Row = z.infer<typeof rowSchema>;

/** At least a wave, at most every word. */
const DIGEST_RANGE = /^inputs 0x([0-9a-f]{8})[|+][a-z] for [a-z] = 0\.\.2\^([6-9]|[12]\d|3[0-2])-1$/;
/** Instructions that read VCC where the row has it; others write it. */
const readsVcc = (name: string) => name.startsWith('v_div_fmas') || name.startsWith('v_cndmask');

/**
 * Reads a known-answer file: an array of `{ instr, gen, in, out, vcc?, mode?, kind? }`.
 * @throws VectorFileError
 */
export function parseKnownAnswers(text: string): VectorFile {
  const rows = parseRows(text);
  const groups = new Map<string, VectorGroup & { cases: VectorCase[] }>();
  const digests: VectorDigest[] = [];
  for (const [index, row] of rows.entries()) {
    const targets = row.gen.split(',').map((name) => name.trim());
    if (row.kind === 'digest') {
      digests.push(digestOf(row, index, targets));
      continue;
    }
    for (const [k, source] of row.in.entries()) check(value, source, [index, 'in', k]);
    if (row.out !== 'NaN') check(value, row.out, [index, 'out']);
    const { round = 0, denorm32 = 3, denorm16_64 = 3 } = row.mode ?? {};
    const mode = round | (round << 2) | (denorm32 << 4) | (denorm16_64 << 6) | MODE_DX10_CLAMP | MODE_IEEE;
    const key = `${row.instr} ${row.gen} ${mode}`;
    const group = groups.get(key) ?? { operation: row.instr, targets, mode, anyNan: false, cases: [] };
    groups.set(key, group);
    group.cases.push({
      place: `[${index}]`,
      sources: row.in.map(wordsOfHex),
      result: row.out === 'NaN' ? 'nan' : wordsOfHex(row.out),
      ...(row.vcc !== undefined && (readsVcc(row.instr) ? { vcc: row.vcc } : { flag: row.vcc })),
    });
  }
  return { groups: [...groups.values()], digests };
}

function parseRows(text: string): Row[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    const { line, column, message } = findJsonProblem(text) ?? { line: 1, column: 1, message: 'no JSON' };
    throw new VectorFileError(`:${line}:${column}:`, message);
  }
  return check(z.array(rowSchema, allowed('an array of known answers')), json, []);
}

function check<T extends z.ZodType>(schema: T, input: unknown, path: readonly PropertyKey[]): z.infer<T> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new VectorFileError(`: ${jsonPath([...path, ...issue!.path])}`, issue!.message);
}

function digestOf(row: Row, index: number, targets: string[]): VectorDigest {
  const range = DIGEST_RANGE.exec(row.in[0]!);
  if (!range)
    throw new VectorFileError(
      ` [${index}].in[0]`,
      `is ${JSON.stringify(row.in[0])}; allowed: inputs 0xXXXXXXXX+i for i = 0..2^N-1`,
    );
  check(value, row.out, [index, 'out']);
  return {
    place: `[${index}]`,
    operation: row.instr,
    targets,
    first: Number.parseInt(range[1]!, 16),
    count: 2 ** Number(range[2]),
    hash: row.out.slice(2).toLowerCase(),
  };
}

/** Digits of the sources and of the result of each TestFloat operation, and whether it has results in four rounding modes. */
const testFloat: Readonly<Record<string, { sources: number[]; result: number; directed: boolean }>> = {
  f64_add: { sources: [16, 16], result: 16, directed: true },
  f64_sub: { sources: [16, 16], result: 16, directed: true },
  f64_mul: { sources: [16, 16], result: 16, directed: true },
  f64_div: { sources: [16, 16], result: 16, directed: true },
  f64_mulAdd: { sources: [16, 16, 16], result: 16, directed: true },
  f64_sqrt: { sources: [16], result: 16, directed: true },
  f64_roundToInt: { sources: [16], result: 16, directed: true },
  f64_to_f32: { sources: [16], result: 8, directed: true },
  f64_to_i32: { sources: [16], result: 8, directed: true },
  f64_to_ui32: { sources: [16], result: 8, directed: true },
  f64_lt: { sources: [16, 16], result: 1, directed: false },
  f64_le: { sources: [16, 16], result: 1, directed: false },
  f64_eq: { sources: [16, 16], result: 1, directed: false },
  f32_to_f64: { sources: [8], result: 16, directed: false },
  i32_to_f64: { sources: [8], result: 16, directed: false },
  ui32_to_f64: { sources: [8], result: 16, directed: false },
  f32_mulAdd: { sources: [8, 8, 8], result: 8, directed: true },
  f32_div: { sources: [8, 8], result: 8, directed: true },
  f32_sqrt: { sources: [8], result: 8, directed: true },
};

export const testFloatOperations = Object.keys(testFloat);

/** Order of the directed results in a line, two columns each: the result and its flags. */
const columnOrder: readonly RoundName[] = ['rne', 'rtz', 'rdn', 'rup'];
const FLAG_INVALID = 0x10;

/**
 * Reads TestFloat's text: `A [B [C]] Rrne Frne Rrtz Frtz Rrdn Frdn Rrup Frup`, or `A [B] R F` for operations that do not round or
 * files of one mode. Conversions that are invalid are left out: there x86's answer stands in the file, which AMD's don't share.
 * @throws VectorFileError
 */
export function parseTestFloat(text: string, operation: string, round: RoundName): VectorFile {
  const shape = testFloat[operation]!;
  const cases: VectorCase[] = [];
  const isInteger = /_to_u?i\d+$/.test(operation);
  text.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === '') return;
    const fields = line.trim().split(/\s+/);
    const n = shape.sources.length;
    const four = fields.length === n + 8;
    if (!four && fields.length !== n + 2 && fields.length !== n + 1)
      throw new VectorFileError(
        `:${index + 1}:1:`,
        `has ${fields.length} fields; allowed: ${n} operands, then result and flags, once${shape.directed ? ' or for each of rne, rtz, rdn, rup' : ''}`,
      );
    const at = n + (four ? 2 * columnOrder.indexOf(round) : 0);
    const digits = [...shape.sources, shape.result];
    const chosen = [...fields.slice(0, n), fields[at]!];
    chosen.forEach((field, k) => {
      if (!new RegExp(`^[0-9a-fA-F]{${digits[k]}}$`).test(field))
        throw new VectorFileError(
          `:${index + 1}:${line.indexOf(field) + 1}:`,
          `'${field.slice(0, 40)}' is no operand; allowed: ${digits[k]} hex digits`,
        );
    });
    if (isInteger && (Number.parseInt(fields[at + 1] ?? '0', 16) & FLAG_INVALID) !== 0) return;
    const result = shape.result === 1 ? { flag: Number(chosen[n]) } : { result: wordsOfHex(chosen[n]!) };
    cases.push({ place: String(index + 1), sources: chosen.slice(0, n).map(wordsOfHex), ...result });
  });
  const mode = modeOf(round);
  return { groups: [{ operation, targets: [], mode: mode | ((mode >>> 2) & 3), anyNan: true, cases }], digests: [] };
}

/**
 * Reads results captured from a chip, a case a line: the sources, the result, and the VCC bit of an instruction that writes one.
 * @param digits hex digits of each column; 1 for VCC
 * @throws VectorFileError
 */
export function parseColumns(
  text: string,
  operation: string,
  digits: readonly number[],
  targets: readonly string[],
): VectorFile {
  const cases = text.split(/\r?\n/).flatMap((line, index): VectorCase[] => {
    if (line.trim() === '') return [];
    const fields = line.trim().split(/\s+/);
    if (fields.length !== digits.length)
      throw new VectorFileError(`:${index + 1}:1:`, `has ${fields.length} fields; allowed: ${digits.length}`);
    for (const [k, field] of fields.entries()) checkDigits(line, index, field, digits[k]!);
    const flag = digits.at(-1) === 1 ? Number(fields.pop()) : undefined;
    const result = wordsOfHex(fields.pop()!);
    return [{ place: String(index + 1), sources: fields.map(wordsOfHex), result, ...(flag !== undefined && { flag }) }];
  });
  return { groups: [{ operation, targets, mode: KERNEL_MODE, anyNan: false, cases }], digests: [] };
}

/** A column by its digits; one digit is a flag. */
const columns: Readonly<Record<number, RegExp>> = { 1: /^[01]$/, 8: /^[0-9a-fA-F]{8}$/, 16: /^[0-9a-fA-F]{16}$/ };

function checkDigits(line: string, index: number, field: string, digits: number): void {
  if (!columns[digits]!.test(field))
    throw new VectorFileError(
      `:${index + 1}:${line.indexOf(field) + 1}:`,
      `'${field.slice(0, 40)}' is no operand; allowed: ${digits === 1 ? '0 or 1' : `${digits} hex digits`}`,
    );
}
