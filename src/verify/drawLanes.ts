/** Operand pairs for many lanes at a time. */
import { type OperandClass, RandomPairs } from './operands.ts';
import { below, type Random, rest } from './random.ts';

/** Lanes that are drawn at a time: enough for each class to have some, few enough that all that is written stays in the nearest caches. */
export const LANES_AT_ONCE = 2048;

/** The most classes to draw from: the classes of four lanes are one random word's. */
const MAX_CLASSES = 32;

/** From one class's places to the next one's. Not a power of two: these places would share few lines of the nearest cache. */
const CLASS_PLACES = LANES_AT_ONCE + 80;

/** The places of each class's lanes, the other random words of their pairs, and where they end. */
const byClass = new Int32Array(MAX_CLASSES * CLASS_PLACES);
const choices = new Uint32Array(MAX_CLASSES * CLASS_PLACES);
const ends = new Int32Array(MAX_CLASSES);

/**
 * Makes pairs of any of these classes out of random bits, for so many lanes: a multiple of 4, `LANES_AT_ONCE` at most. A class is drawn for
 * each lane first, and then the lanes of each class are done together: a processor can't foresee a random choice, and to have
 * guessed wrong costs more than most classes do.
 * @param words the random bits @param step,places as `RandomPairs` has them
 */
export function drawLanes(
  random: Random,
  from: readonly OperandClass[],
  words: Uint32Array,
  step: number,
  places: Int32Array,
  lanes: number,
): void {
  if (from.length === 1) {
    random.fill(choices, 0, lanes);
    from[0]!(new RandomPairs(words, step, places, choices), 0, lanes);
    return;
  }
  if (from.length > MAX_CLASSES) throw new RangeError(`pairs are drawn from ${MAX_CLASSES} classes at most`);
  sort(random, from.length, places, lanes);
  const pairs = new RandomPairs(words, step, byClass, choices);
  for (let i = 0; i < from.length; i++) {
    const first = i * CLASS_PLACES;
    const last = ends[i]!;
    random.fill(choices, first, first + ((last - first + 3) & -4));
    from[i]!(pairs, first, last);
  }
}

/** Puts each lane to a class. */
function sort(random: Random, classes: number, places: Int32Array, lanes: number): void {
  random.fill(choices, 0, ((lanes >> 2) + 3) & -4);
  for (let i = 0; i < classes; i++) ends[i] = i * CLASS_PLACES;
  for (let lane = 0, i = 0; lane < lanes; lane += 4, i++) {
    const a = choices[i]!;
    const b = rest(a, classes);
    const c = rest(b, classes);
    const d = rest(c, classes);
    put(below(a, classes), places[lane]!);
    put(below(b, classes), places[lane + 1]!);
    put(below(c, classes), places[lane + 2]!);
    put(below(d, classes), places[lane + 3]!);
  }
}

function put(ofClass: number, place: number): void {
  byClass[ends[ofClass]!++] = place;
}
