/**
 * @module engine/inputs/colours
 * What the two videos say of their colours, for the metrics of colour, and what had to be guessed.
 */
import type { ColourAs } from '../../core/choices.js';
import { colourAs, colourOf, type KnownColour, type StatedColour } from '../../core/colour.js';
import { usageError } from '../../core/errors.js';
import { shown } from '../../core/printable.js';
import { factsOf, nameOf, type PairingPlan, type Side, type Sides } from '../../media/pairing/prepare.js';
import type { KnownColours } from '../pair/pair.js';

/**
 * The colours of both sides.
 * @param plan absent if frames are compared as stored
 * @param known the colour of both, where files do not state that of what they were made of
 * @param as the tool whose conversion is repeated
 * @throws {AnyvmafError} `usage` if that of the tool is not known
 */
export function coloursOf(
  { reference, distorted }: Sides,
  plan?: PairingPlan,
  known?: KnownColour,
  as?: ColourAs,
): KnownColours {
  const stills = [reference, distorted].every((side) => frameCountOf(side) === 1);
  if (as !== undefined && !known)
    return { reference: colourFor(as, reference), distorted: colourFor(as, distorted), stills };
  const [one, other] = [known ?? colourOfSide(reference, plan), known ?? colourOfSide(distorted, plan)];
  return {
    reference: following(one, other, distorted),
    distorted: following(other, one, reference),
    stills,
  };
}

function colourFor(as: ColourAs, side: Side): KnownColour {
  const facts: StatedColour = factsOf(side);
  const found = colourAs(as, facts);
  if (found) return found;
  throw usageError(
    `is vship, but ${shown(nameOf(side))} has the primaries ${facts.primaries}, which Vship refuses or shows by another ` +
      'white than D65. Leave it out.',
    { about: 'colourAs' },
  );
}

/** What samples of each chroma format depend on. */
const PARTS = {
  '400': ['transfer'],
  '420': ['transfer', 'matrix', 'siting'],
  '422': ['transfer', 'matrix', 'siting'],
  '444': ['transfer', 'matrix'],
} as const;

/** A colour whose guesses are what the other video states: mostly one was made of the other. */
function following(colour: KnownColour, other: KnownColour, side: Side): KnownColour {
  const stated = PARTS[factsOf(side).chroma].filter(
    (part) => colour.guessed.includes(part) && !other.guessed.includes(part),
  );
  const told = stated.map((part) => [part, other[part]] as const);
  return { ...colour, ...Object.fromEntries(told.filter(([, value]) => value !== 'gbr')) };
}

function frameCountOf(side: Side): number | null {
  return side.times?.length ?? factsOf(side).frameCount;
}

function colourOfSide(side: Side, plan: PairingPlan | undefined): KnownColour {
  const facts: StatedColour = factsOf(side);
  const colour = colourOf(facts);
  const { chroma } = facts;
  const repeated = plan && !plan.options.light && chroma !== '400' && chroma !== plan.format.chroma;
  return repeated ? { ...colour, upsampling: 'nearest' } : colour;
}
