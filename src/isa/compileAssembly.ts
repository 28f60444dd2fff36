/** Compiles assembly/ to divisionMacro.wasm.ts: `npm run build:wasm`, a part of `npm ci`. */
import { writeFileSync } from 'node:fs';
import asc from 'assemblyscript/asc';

const source = 'src/isa/assembly/divisionMacro.ts';
const settings = '-O3 --enable simd --runtime stub --noAssert --importMemory';
let binary: Uint8Array | undefined;
const { error, stderr } = await asc.main([source, '--outFile', 'out.wasm', ...settings.split(' ')], {
  writeFile: (_, contents) => {
    binary = contents as Uint8Array;
  },
});
if (error || !binary) throw new Error(`${source}: ${stderr.toString()}`);
const text = Buffer.from(binary).toString('base64');
writeFileSync(
  'src/isa/divisionMacro.wasm.ts',
  `/** Of ${source}. */\nexport const divisionMacroWasm =\n  '${text}';\n`,
);
