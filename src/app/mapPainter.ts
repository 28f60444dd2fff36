/** What a painter of the decision map is given; `mapGpu.ts` paints with WebGPU, `mapCpu.ts` without. */
import type { Variant } from '../isa/target.ts';
import type { View } from './mapView.ts';

/** 52 fraction bits: the low word, and 20 bits above it. */
export interface Fraction {
  readonly hi: number;
  readonly lo: number;
}

export interface MapScene {
  readonly view: View;
  /** Device pixels a CSS pixel. */
  readonly ratio: number;
  readonly numerator: Fraction;
  readonly denominator: Fraction;
  /** MODE as the target acts on it. */
  readonly mode: number;
  readonly variant: Variant;
}

export interface MapPainter {
  /** For people: what computes the picture. */
  readonly name: string;
  /** Device pixels a CSS pixel that it can afford. */
  readonly ratioLimit: number;
  /** Resolves when the picture has been handed to the browser. */
  paint(scene: MapScene): Promise<void>;
}
