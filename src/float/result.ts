const cell = new Float64Array(1);

/**
 * Where every f64 operation leaves its result: [0] the low word, [1] the high word. One shared cell and no returned
 * object, so that a lane's arithmetic allocates nothing. Read it before the next operation.
 */
export const result = new Uint32Array(cell.buffer);

/** Leaves the word (hi, lo) as the result. */
export const f64_leave = (hi: number, lo: number): void => {
  result[0] = lo;
  result[1] = hi;
};

/** Leaves a double that is not NaN as the result. */
export const f64_leaveNumber = (value: number): void => {
  cell[0] = value;
};
