/**
 * Directives: the few that matter to running a program, and the rest that compilers print around it.
 * Source: LLVM AMDGPUUsage, "Assembler directives".
 */
import type { Target } from '../isa/target.ts';
import type { WaveSize } from '../wavefront/registers.ts';
import { quote, SyntaxFault } from './asmError.ts';
import type { Cursor } from './lexer.ts';
import { nearest } from './mnemonics.ts';

/** Directives about symbols, sections and debugging: nothing to run. */
const skipped = new Set(
  `.abort .addrsig .addrsig_sym .align .amd_kernel_code_t .amdgcn .amdgpu_hsa_kernel .amdgpu_lds .att_syntax .balign .cfi_def_cfa
  .cfi_def_cfa_register .cfi_endproc .cfi_escape .cfi_llvm_def_aspace_cfa .cfi_sections .cfi_startproc .cfi_undefined .comm .file
  .globl .global .hidden .hsa_code_object_isa .hsa_code_object_version .ident .internal .lcomm .loc .local .p2align .popsection
  .protected .pushsection .set .size .type .weak`.split(/\s+/),
);

/** Data: skipped in other sections, an error among instructions. */
const data = new Set(
  '.2byte .4byte .8byte .ascii .asciz .byte .fill .hword .int .long .octa .quad .short .skip .space .string .word .zero'.split(
    ' ',
  ),
);

/** What a kernel's descriptor and the target line say about the program as a whole. */
export interface DirectiveSink {
  readonly target: Target;
  /** `.amdhsa_wavefront_size32`. @throws SyntaxFault if another size was asked for */
  waveSize(size: WaveSize, column: number): void;
}

/** Follows sections and blocks through a text. */
export class Directives {
  /** In a section of instructions: those elsewhere are data. */
  inText = true;
  /** Lines up to this directive belong to a metadata block and are not looked at. */
  skipTo: string | undefined;

  private readonly sink: DirectiveSink;

  constructor(sink: DirectiveSink) {
    this.sink = sink;
  }

  /**
   * Acts on a directive; the cursor stands behind its name.
   * @throws SyntaxFault if it is unknown, or contradicts the target
   */
  take(name: string, column: number, cursor: Cursor): void {
    if (name === '.text') this.inText = true;
    else if (name === '.data' || name === '.rodata' || name === '.bss') this.inText = false;
    else if (name === '.section') this.inText = isTextSection(cursor);
    else if (name === '.amdgcn_target') this.checkTarget(cursor);
    else if (name === '.amdhsa_wavefront_size32') {
      const at = cursor.token.column;
      this.sink.waveSize(cursor.integer(name, 0, 1) === 1 ? 32 : 64, at);
    } else if (name === '.amdgpu_metadata' || name === '.amd_amdgpu_hsa_metadata')
      this.skipTo = `.end_${name.slice(1)}`;
    else if (data.has(name)) {
      if (this.inText)
        throw new SyntaxFault(column, `${name} among instructions is not supported: data goes into another section`);
    } else if (!skipped.has(name) && !/^\.(?:amdhsa_|end_amdhsa_kernel$|cfi_|debug_|amdgcn\.)/.test(name))
      throw new SyntaxFault(
        column,
        `unknown directive ${quote(name)}; near are ${nearest(name, [...skipped, ...data, '.text', '.section']).join(', ')}`,
      );
  }

  private checkTarget(cursor: Cursor): void {
    const { token } = cursor;
    const { name } = this.sink.target;
    const named = /-(gfx[\da-f]+)(?::|$)/.exec(token.text)?.[1];
    if (token.kind !== 'string' || named === undefined)
      throw new SyntaxFault(token.column, `expected a target such as "amdgcn-amd-amdhsa--${name}"`);
    if (named !== name)
      throw new SyntaxFault(
        token.column,
        `the program is for ${named}, the target is ${name}: choose --target ${named}`,
      );
  }
}

function isTextSection(cursor: Cursor): boolean {
  const { text } = cursor.token;
  return text === '.text' || text.startsWith('.text.');
}
