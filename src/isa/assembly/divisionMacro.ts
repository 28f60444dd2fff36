/**
 * The f64 division macro of ../divisionMacroLanes.ts, where the argument stands, over four lanes side by side: in AssemblyScript, for
 * the vector instructions of WebAssembly. Passes over all lanes take no branch; they note groups of four lanes for those that settle
 * what is rare. Lanes with a subnormal reciprocal are left to JavaScript.
 */
import { Frame, list } from './frame';
import { quotients, settle } from './quotient';
import { reciprocals, refinedReciprocals } from './reciprocal';
import { unpack } from './scale';
import { specials } from './special';

/**
 * The macro over a wave.
 * @param isDirect whether nobody wants the steps from r0 to e1
 * @returns how many lanes are left
 */
export function divide(frame: Frame, lanes: i32, isDirect: bool): i32 {
  const specialGroups = unpack(frame, lanes);
  if (isDirect) reciprocals(frame, lanes);
  else refinedReciprocals(frame, lanes);
  const otherGroups = quotients(frame, lanes);
  settle(frame, otherGroups);
  specials(frame, specialGroups);
  return listSmall(frame, otherGroups);
}

/** Lists lanes where r1 or r2 is subnormal. */
function listSmall(frame: Frame, groups: i32): i32 {
  let count = 0;
  for (let k = 0; k < groups; k++) {
    const at: usize = load<u32>(frame.otherGroups + (k << 2));
    count = list(frame.left, count, at, v128.load(frame.isSmall + at));
  }
  return count;
}
