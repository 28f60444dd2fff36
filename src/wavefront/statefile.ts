/**
 * The state file: a batch of wavefronts as JSON, for people and other programs.
 *
 *     { "target": "gfx90a", "wave": 64, "mode": "000003f0", "waves_per_workgroup": 1,
 *       "waves": [ { "exec": "ffffffffffffffff", "vcc": "0000000000000000", "scc": 0, "m0": "ffffffff", "mode": "000003f0",
 *                    "s": { "4": "0000abcd" }, "v": { "0": "3ff00000", "1": ["...", 64 words] }, "lds": ["...", words] } ] }
 *
 * Words are 8 hex digits, lane masks 16 (8 in wave32). What is missing is 0, but EXEC (all ones) and MODE (as kernels start).
 */
import { z } from 'zod';
import { findJsonProblem, jsonPath } from './json.ts';
import { type Shape, Special } from './layout.ts';
import { KERNEL_MODE } from './mode.ts';
import type { WaveSize } from './registers.ts';
import { WaveState } from './state.ts';

export const MAX_WAVES = 65536;
export const MAX_FILE_BYTES = 256 * 2 ** 20;
const MAX_VGPRS = 512;
const MAX_SGPRS = 106;
const MAX_LDS_WORDS = 81920;

/** What is wrong with a state file: a JSON path or a line and column, what is there, what may be. */
export class StateFileError extends Error {
  readonly at: { readonly path: string } | { readonly line: number; readonly column: number };
  constructor(at: StateFileError['at'], message: string) {
    super(message);
    this.name = 'StateFileError';
    this.at = at;
  }
}

const shown = (value: unknown) => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 40 ? `${text.slice(0, 40)}...` : text;
};

/** The message of a schema that `check`s a value: what it is, what it should be. */
const must = (allowed: string) => ({
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined ? `is missing; allowed: ${allowed}` : `is ${shown(issue.input)}; allowed: ${allowed}`,
});

const hex = (digits: number) =>
  z.string(must(`${digits} hex digits`)).regex(new RegExp(`^[0-9a-fA-F]{${digits}}$`), must(`${digits} hex digits`));
const word = hex(8);

const registers = <T extends z.ZodType>(file: string, count: number, value: T) =>
  z.record(
    z
      .string()
      .refine(
        (key) => /^(0|[1-9]\d*)$/.test(key) && Number(key) < count,
        must(`${file}0 to ${file}${count - 1}, by number`),
      ),
    value,
    must(`an object from register number to ${file === 'v' ? 'a word or a word for each lane' : 'a word'}`),
  );

/** Each lane's word, or one word for all lanes. */
const lanes = (wave: WaveSize) => {
  const allowed = `one word of 8 hex digits, or ${wave} of them`;
  return z.union(
    [word, z.array(word, must(allowed)).length(wave, must(`${wave} words, one for each lane`))],
    must(allowed),
  );
};

const waveSchema = (wave: WaveSize) =>
  z.strictObject(
    {
      exec: hex(wave / 4).optional(),
      vcc: hex(wave / 4).optional(),
      scc: z.union([z.literal(0), z.literal(1)], must('0 or 1')).optional(),
      m0: word.optional(),
      mode: word.optional(),
      s: registers('s', MAX_SGPRS, word).optional(),
      v: registers('v', MAX_VGPRS, lanes(wave)).optional(),
      lds: z
        .array(word, must('an array of words of 8 hex digits'))
        .max(MAX_LDS_WORDS, must(`at most ${MAX_LDS_WORDS} words`))
        .optional(),
    },
    must('an object with exec, vcc, scc, m0, mode, s, v, lds'),
  );

const fileSchema = (wave: WaveSize) =>
  z.strictObject(
    {
      target: z.string(must('the name of a target such as "gfx90a"')).optional(),
      wave: z.union([z.literal(32), z.literal(64)], must('32 or 64')).optional(),
      mode: word.optional(),
      waves_per_workgroup: z
        .number(must('a whole number from 1 to 32'))
        .int(must('a whole number from 1 to 32'))
        .min(1, must('a whole number from 1 to 32'))
        .max(32, must('a whole number from 1 to 32'))
        .optional(),
      waves: z
        .array(waveSchema(wave), must('an array of waves'))
        .min(1, must('at least one wave'))
        .max(MAX_WAVES, { error: () => `has too many waves; allowed: at most ${MAX_WAVES}` }),
    },
    must('an object with target, wave, mode, waves_per_workgroup, waves'),
  );

export type StateFile = z.infer<ReturnType<typeof fileSchema>>;
export type WaveEntry = StateFile['waves'][number];

type Issue = z.core.$ZodIssue;

/** Of a union that fits nowhere, the alternative that came furthest is the one that was meant. */
function deepest(issue: Issue, path: readonly PropertyKey[] = []): { path: readonly PropertyKey[]; issue: Issue } {
  const here = { path: [...path, ...issue.path], issue };
  if (issue.code !== 'invalid_union') return here;
  const inner = issue.errors
    .flatMap((issues) => issues.slice(0, 1))
    .filter((i) => i.path.length > 0 || i.code === 'too_small' || i.code === 'too_big');
  return inner.length > 0 ? deepest(inner[0]!, here.path) : here;
}

function problemOf(error: z.ZodError): StateFileError {
  const { path, issue } = deepest(error.issues[0]!);
  if (issue.code === 'unrecognized_keys')
    return new StateFileError(
      { path: jsonPath([...path, issue.keys[0]!]) },
      `is no key of a state file; allowed: ${keysAt(path)}`,
    );
  if (issue.code === 'invalid_key') return new StateFileError({ path: jsonPath(path) }, issue.issues[0]!.message);
  return new StateFileError({ path: jsonPath(path) }, issue.message);
}

const keysAt = (path: readonly PropertyKey[]) =>
  path.length === 0 ? 'target, wave, mode, waves_per_workgroup, waves' : 'exec, vcc, scc, m0, mode, s, v, lds';

/** What a state file says about the program that it is for. */
export interface StateHead {
  readonly target?: string;
  readonly wave?: WaveSize;
}

const headOf = (json: unknown): StateHead => {
  const { target, wave } = (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>;
  return { ...(typeof target === 'string' && { target }), ...((wave === 32 || wave === 64) && { wave }) };
};

/**
 * Reads a state file.
 * @param wavesOf lanes a wave, told what the file says of target and wave size
 * @throws StateFileError, and what `wavesOf` throws
 */
export function parseStateFile(
  text: string,
  wavesOf: (head: StateHead) => WaveSize = ({ wave }) => wave ?? 64,
): StateFile {
  const json = parseJson(text);
  const parsed = fileSchema(wavesOf(headOf(json))).safeParse(json);
  if (!parsed.success) throw problemOf(parsed.error);
  const file = parsed.data;
  const perGroup = file.waves_per_workgroup ?? 1;
  if (file.waves.length % perGroup !== 0)
    throw new StateFileError(
      { path: 'waves' },
      `do not fill workgroups: there are ${file.waves.length}; allowed: a multiple of waves_per_workgroup, ${perGroup}`,
    );
  file.waves.forEach((entry, index) => {
    if (entry.lds !== undefined && index % perGroup !== 0)
      throw new StateFileError(
        { path: `waves[${index}].lds` },
        `belongs to the first wave of its workgroup; allowed: in wave ${index - (index % perGroup)}`,
      );
  });
  return file;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const problem = findJsonProblem(text) ?? { line: 1, column: 1, message: 'no JSON' };
    throw new StateFileError(problem, problem.message);
  }
}

/** What a program needs of each wave, in registers and words. */
export interface Needs {
  readonly vgprs: number;
  readonly sgprs: number;
  readonly ldsWords: number;
}

const hexNumber = (text: string) => Number.parseInt(text, 16);

const highest = (waves: readonly WaveEntry[], file: 's' | 'v') =>
  waves.reduce((n, wave) => Object.keys(wave[file] ?? {}).reduce((m, key) => Math.max(m, Number(key) + 1), n), 0);

/** The shape of a batch that holds what the file gives and the program needs. */
export function shapeOf(file: StateFile, wave: WaveSize, needs: Needs): Shape {
  return {
    waveSize: wave,
    waves: file.waves.length,
    wavesPerGroup: file.waves_per_workgroup ?? 1,
    vgprs: Math.max(needs.vgprs, highest(file.waves, 'v')),
    sgprs: Math.max(needs.sgprs, highest(file.waves, 's')),
    ldsWords: file.waves.reduce((n, { lds }) => Math.max(n, lds?.length ?? 0), needs.ldsWords),
  };
}

/** Packs the waves `first` to `first + shape.waves - 1` of a file, whole workgroups, as a batch of that shape. */
export function packState(file: StateFile, shape: Shape, first = 0): WaveState {
  const state = WaveState.start(shape);
  for (let wave = 0; wave < shape.waves; wave++) {
    const entry = file.waves[first + wave]!;
    packScalars(state, wave, entry, entry.mode ?? file.mode);
    for (const [register, value] of Object.entries(entry.v ?? {})) {
      const lanes = state.vgpr(wave, Number(register));
      if (typeof value === 'string') lanes.fill(hexNumber(value));
      else lanes.set(value.map(hexNumber));
    }
    if (entry.lds) state.lds(wave / shape.wavesPerGroup).set(entry.lds.map(hexNumber));
  }
  return state;
}

function packScalars(state: WaveState, wave: number, entry: WaveEntry, mode: string | undefined): void {
  const setMask = (low: number, high: number, mask: string | undefined) => {
    if (mask === undefined) return;
    state.setSpecial(wave, low, hexNumber(mask.slice(-8)));
    if (mask.length > 8) state.setSpecial(wave, high, hexNumber(mask.slice(0, 8)));
  };
  setMask(Special.execLo, Special.execHi, entry.exec);
  setMask(Special.vccLo, Special.vccHi, entry.vcc);
  state.setSpecial(wave, Special.scc, entry.scc ?? 0);
  state.setSpecial(wave, Special.m0, hexNumber(entry.m0 ?? '0'));
  state.setSpecial(wave, Special.mode, mode === undefined ? KERNEL_MODE : hexNumber(mode));
  for (const [register, value] of Object.entries(entry.s ?? {}))
    state.setScalar(wave, Number(register), hexNumber(value));
}

/** Which registers a printed wave lists, by number. */
export interface Listed {
  readonly vgprs: Iterable<number>;
  readonly sgprs: Iterable<number>;
}

const wordHex = (value: number) => value.toString(16).padStart(8, '0');

/**
 * The entry of one wave: the listed registers, EXEC, VCC, SCC, M0, MODE, and, of the first wave of a workgroup, the LDS words up to the last
 * that `given` has or that is not 0. A register that is the same in all lanes is one word.
 */
export function waveEntry(state: WaveState, wave: number, listed: Listed, given?: WaveEntry): WaveEntry {
  const { waveSize, wavesPerGroup, sgprs, vgprs } = state.layout.shape;
  const mask = (low: number, high: number) =>
    (waveSize === 64 ? wordHex(state.special(wave, high)) : '') + wordHex(state.special(wave, low));
  const numbers = (named: Iterable<number>, also: object | undefined, limit: number) =>
    [...new Set([...named, ...Object.keys(also ?? {}).map(Number)])].filter((n) => n < limit).sort((a, b) => a - b);
  const lanesOf = (register: number) => {
    const lanes = state.vgpr(wave, register);
    return lanes.every((value) => value === lanes[0]) ? wordHex(lanes[0]!) : Array.from(lanes, wordHex);
  };
  const lds = wave % wavesPerGroup === 0 ? touched(state.lds(wave / wavesPerGroup), given?.lds?.length ?? 0) : [];
  return {
    exec: mask(Special.execLo, Special.execHi),
    vcc: mask(Special.vccLo, Special.vccHi),
    scc: state.special(wave, Special.scc) === 0 ? 0 : 1,
    m0: wordHex(state.special(wave, Special.m0)),
    mode: wordHex(state.special(wave, Special.mode)),
    s: Object.fromEntries(numbers(listed.sgprs, given?.s, sgprs).map((n) => [n, wordHex(state.scalar(wave, n))])),
    v: Object.fromEntries(numbers(listed.vgprs, given?.v, vgprs).map((n) => [n, lanesOf(n)])),
    ...(lds.length > 0 && { lds }),
  };
}

function touched(lds: Uint32Array, given: number): string[] {
  let words = lds.length;
  while (words > given && lds[words - 1] === 0) words--;
  return Array.from(lds.subarray(0, words), wordHex);
}
