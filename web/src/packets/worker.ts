/**
 * @module web/packets/worker
 * Worker that reads the packets of containers.
 */
import { serve } from '../engine/calls.js';
import { packetFunctions } from './functions.js';

serve(packetFunctions, self);
