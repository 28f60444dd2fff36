/**
 * The list of lanes that a fast kernel leaves to a second one: a bit a lane, so that putting one there is a single atomic, and the list
 * need not be counted. The second kernel looks through it with a few invocations.
 *
 * Counting the list and dispatching a workgroup for each 64 lanes takes two more dispatches (and one of Dawn's own, which looks at
 * the arguments).
 */

/** The words of a wave lie behind each other. Nobody is on the list when a fast kernel begins. */
export const bailList = '@group(0) @binding(4) var<storage, read_write> bails: array<atomic<u32>>;';

export const STEPS_BINDING = 7;

/** A lane each: where to go on with those that are on the list of a loop. */
export const steps = `@group(0) @binding(${STEPS_BINDING}) var<storage, read_write> steps: array<u32>;`;

/** Invocations of a workgroup over the bail list: as many lanes as a CPU has side by side. */
const LIST_INVOCATIONS = 8;

/** Workgroups that keep the cores of a CPU busy. */
const FEW_WORKGROUPS = 8;

/**
 * Steps that a lane on the list may need, if they can be cut: an invocation does them for the 32 lanes of a word, or one step for as many
 * words. Steps have loops of up to 55 turns, and llvmpipe ends an invocation's loops after 65,535, all of them taken together.
 */
export const LIST_STEPS = 32;

/**
 * Workgroups of a kernel over the bail list of so many waves. An invocation takes words of the list in turn. On a CPU it takes as many as
 * it may: an invocation that finds no lane costs as much there as a lane, since the body of a loop is run once in any case.
 * @param steps that a lane may need
 */
export function listWorkgroups(waves: number, lanes: number, steps: number, software: boolean): number {
  const words = (waves * lanes) / 32;
  const each = software ? Math.max(1, Math.floor(LIST_STEPS / steps)) : 1;
  const most = Math.ceil(words / LIST_INVOCATIONS);
  return Math.min(most, Math.max(FEW_WORKGROUPS, Math.ceil(words / each / LIST_INVOCATIONS)));
}

/** The beginning of a loop over the lanes that an invocation finds on the list. It leaves the list empty. */
export const listStart = (lanes: number) => [
  `@compute @workgroup_size(${LIST_INVOCATIONS})`,
  'fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {',
  `  let words = dispatch.z * ${lanes / 32}u;`,
  '  var next = id.x;',
  '  var word = 0u;',
  '  var marks = 0u;',
  '  loop {',
  '  while (marks == 0u && next < words) {',
  lanes === 64
    ? '    word = (dispatch.x + (next >> 1u) * dispatch.y) * 2u + (next & 1u);'
    : '    word = dispatch.x + next * dispatch.y;',
  '    marks = atomicExchange(&bails[word], 0u);',
  `    next += groups.x * ${LIST_INVOCATIONS}u;`,
  '  }',
  '  if (marks == 0u) { break; }',
  `  let wave = word / ${lanes / 32}u;`,
  `  let lane = ${lanes === 64 ? '(word & 1u) * 32u + ' : ''}firstTrailingBit(marks);`,
  '  marks &= marks - 1u;',
];
