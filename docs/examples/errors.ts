import { AnyvmafError, score } from 'anyvmaf';

try {
  await score({ reference: 'reference.y4m', distorted: 'missing.y4m' });
} catch (error) {
  if (!(error instanceof AnyvmafError)) throw error;
  // A sentence for people and a code for programs.
  console.log(error.code, error.message);
}
