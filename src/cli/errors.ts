/** How a command ends: the exit codes that scripts can rely on. */
export const Exit = {
  /** Done, and equal. */
  done: 0,
  /** Ran, and differs. */
  differs: 1,
  /** Bad input or usage. */
  usage: 2,
  /** No engine can run it. */
  noEngine: 3,
  /** The program faulted or did not end. */
  fault: 4,
} as const;
export type Exit = (typeof Exit)[keyof typeof Exit];

/** Ends a command with one line on stderr: where, what is wrong, what is allowed. */
export class CommandError extends Error {
  readonly exit: Exit;
  constructor(exit: Exit, message: string) {
    super(message.replace(/\s*\n\s*/g, ' '));
    this.name = 'CommandError';
    this.exit = exit;
  }
}

export const usage = (message: string) => new CommandError(Exit.usage, message);
