// SPDX-License-Identifier: Apache-2.0
import { colour } from '../../shown-theme.js';

export interface Colours {
  readonly card: string;
  readonly ink: string;
  readonly soft: string;
  readonly rule: string;
  readonly accent: string;
  readonly wave: string;
  readonly analysed: string;
  readonly spoofed: string;
  readonly bonafide: string;
  readonly bonafideFill: string;
  /** Stripes: the verdict is not told by colour alone. */
  readonly spoofedPattern: CanvasPattern | string;
  readonly silence: CanvasPattern | string;
}

const TILE_PX = 8;

/** Diagonal stripes. */
function stripes(ground: string, line: string): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = TILE_PX;
  tile.height = TILE_PX;
  const context = tile.getContext('2d');
  if (context === null) return ground;
  context.fillStyle = ground;
  context.fillRect(0, 0, TILE_PX, TILE_PX);
  context.strokeStyle = line;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const shift of [-TILE_PX, 0, TILE_PX]) {
    context.moveTo(shift - 1, TILE_PX + 1);
    context.lineTo(shift + TILE_PX + 1, -1);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? ground;
}

/** The colours of the theme, for a canvas. */
export function themeColours(): Colours {
  const card = colour('--card');
  const spoofed = colour('--spoofed');
  return {
    card,
    ink: colour('--ink'),
    soft: colour('--soft'),
    rule: colour('--rule'),
    accent: colour('--accent'),
    wave: colour('--wave'),
    analysed: colour('--analysed'),
    spoofed,
    bonafide: colour('--bonafide'),
    bonafideFill: colour('--bonafide-fill'),
    spoofedPattern: stripes(colour('--spoofed-fill'), spoofed),
    silence: stripes(card, colour('--soft')),
  };
}
