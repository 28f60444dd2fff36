/** Storage of lanes that WebAssembly sees too. */
const PAGE_BYTES = 65536;
/** Of vectors: WebAssembly takes them from anywhere, but faster from here. */
const ALIGNMENT = 16;

export class LaneMemory {
  readonly memory: WebAssembly.Memory;
  #next = 0;

  private constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
  }

  /** So many bytes; undefined where there is no WebAssembly or no address space is left. */
  static open(bytes: number): LaneMemory | undefined {
    try {
      const pages = Math.ceil(bytes / PAGE_BYTES);
      return new LaneMemory(new WebAssembly.Memory({ initial: pages, maximum: pages }));
    } catch {
      return undefined;
    }
  }

  /** The next bytes, all 0. @throws RangeError if there are no more */
  bytes(count: number): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(this.memory.buffer, this.#next, count);
    this.#next += Math.ceil(count / ALIGNMENT) * ALIGNMENT;
    return taken;
  }

  /** The next words, all 0. @throws RangeError if there are no more */
  words(count: number): Uint32Array<ArrayBuffer> {
    const { buffer, byteOffset } = this.bytes(4 * count);
    return new Uint32Array(buffer, byteOffset, count);
  }

  /** Whether an array lies here. */
  holds({ buffer }: ArrayBufferView): boolean {
    return buffer === this.memory.buffer;
  }
}
