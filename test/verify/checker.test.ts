/** A batch is checked part by part: what is found in any part is what the whole has, numbered within the whole. */
import { describe, expect, it } from 'vitest';
import { ReferenceEngine } from '../../src/reference/engine.ts';
import { LocalChecker } from '../../src/verify/checker.ts';
import { compareStates, type Difference } from '../../src/verify/compare.ts';
import type { DrawnParts, Job } from '../../src/verify/job.ts';
import type { Shape } from '../../src/wavefront/layout.ts';
import { WaveState } from '../../src/wavefront/state.ts';
import { programOf } from '../reference/rig.ts';

/** Not a whole number of parts; workgroups of two. */
const shape: Shape = { waveSize: 64, waves: 150, wavesPerGroup: 2, vgprs: 8, sgprs: 8, ldsWords: 128 };

/** Each wave writes to the LDS that it shares and stores what it read of the other; address 4096 is out of range. */
const program = programOf('ds_write_b32 v0, v1\ns_barrier\nds_read_b32 v2, v3\nds_write_b32 v4, v1');

function draw(): WaveState {
  const state = WaveState.start(shape);
  for (let wave = 0; wave < shape.waves; wave++)
    for (let lane = 0; lane < 64; lane++) {
      state.vgpr(wave, 0)[lane] = 4 * lane + 256 * (wave % 2);
      state.vgpr(wave, 1)[lane] = 1000 * wave + lane;
      state.vgpr(wave, 3)[lane] = 4 * lane + 256 * ((wave + 1) % 2);
      state.vgpr(wave, 4)[lane] = wave % 60 === 59 && lane === 7 ? 4096 : 0;
    }
  return state;
}

const job: Job = {
  stages: [{ name: 'programs', program }],
  batches: 1,
  draw,
  countWrong: ({ words }, input) =>
    words.reduce((sum, word, i) => sum + Number(word === 0xbad00000 && input.words[i] !== word), 0),
};

const place = ({ wave, register, lane = 0 }: Difference) => `${wave} ${register} ${lane}`;

describe('a batch that is drawn in parts', () => {
  const whole = draw();
  const parts: DrawnParts = {
    shapeOf: () => shape,
    draw: (part, _, first) => whole.readPart(part, first),
  };

  it('is the batch that is drawn at once, for the engine under test and where it is checked', async () => {
    const engine = new ReferenceEngine();
    const checker = new LocalChecker({ ...job, parts }, engine, {});
    const input = await checker.draw(0);
    expect(compareStates(input, whole).mismatches).toBe(0);
    const { state: output } = await engine.run(program, input);
    output.vgpr(149, 5)[3] = 0xbad00000;
    const first = [{ wave: 149, register: 'v5', lane: 3 }];
    expect(await checker.check(0, output)).toMatchObject({
      waves: 150,
      wrong: 1,
      comparison: { mismatches: 1, first },
    });
  });

  it('has one part under way where nothing else computes it', async () => {
    const states = new Set<WaveState>();
    const counting: DrawnParts = {
      ...parts,
      draw: (part, _, first) => whole.readPart(part, first) ?? states.add(part),
    };
    const checked = await new LocalChecker({ ...job, parts: counting }, new ReferenceEngine(), {}).check(0);
    expect(checked).toMatchObject({ waves: 150, wrong: 0 });
    expect(checked.faults.map(({ wave }) => wave)).toEqual([59, 119]);
    // The last part is smaller.
    expect(states.size).toBeLessThanOrEqual(3);
  });
});

describe('a batch of three parts', () => {
  const engine = new ReferenceEngine();

  it('has the differences, faults and counts of the whole', async () => {
    const checker = new LocalChecker(job, engine, {});
    const input = await checker.draw(0);
    const { state: output } = await engine.run(program, input);
    expect(output.vgpr(148, 2)[9]).toBe(1000 * 149 + 9);
    for (const wave of [0, 63, 64, 127, 128, 149]) output.vgpr(wave, 5)[wave % 64] = 0xbad00000;
    output.lds(74)[3]! ^= 1;
    output.lds(0)[127]! ^= 1;
    output.setScalar(149, 7, 1);
    output.setScalar(64, 0, 1);
    const whole = compareStates(output, (await engine.run(program, input)).state);
    const faults = output.faults();
    const checked = await checker.check(0, output);
    expect(checked).toMatchObject({ waves: 150, lanes: 9600, wrong: 6 });
    expect(checked.costs.map(({ lanes }) => lanes)).toEqual([9600]);
    expect(checked.faults).toEqual(faults);
    expect(faults.map(({ wave }) => wave)).toEqual([59, 119]);
    expect(checked.comparison).toMatchObject({ words: whole.words, mismatches: 10, byRegister: whole.byRegister });
    expect(checked.comparison!.first.map(place).sort()).toEqual(whole.first.map(place).sort());
  });

  it('lists no more than was asked for', async () => {
    const checker = new LocalChecker(job, engine, { limit: 1 });
    const { state: output } = await engine.run(program, await checker.draw(0));
    for (const wave of [3, 70, 140]) output.vgpr(wave, 5).fill(1);
    const checked = await checker.check(0, output);
    expect(checked.comparison).toMatchObject({ mismatches: 192, first: [{ wave: 3, register: 'v5', lane: 0 }] });
    expect(checked.faults.map(({ wave }) => wave)).toEqual([59]);
  });

  it('is judged by itself where nothing else computed it', async () => {
    const checked = await new LocalChecker(job, engine, {}).check(0);
    expect(checked).toMatchObject({ waves: 150, lanes: 9600, wrong: 0 });
    expect(checked.comparison).toBeUndefined();
  });
});
