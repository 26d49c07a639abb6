import { AnyvmafError, score } from 'anyvmaf';

try {
  await score({ reference: 'reference.y4m', distorted: 'missing.y4m' });
} catch (error) {
  if (!(error instanceof AnyvmafError)) throw error;
  // A code for programs and a sentence for people.
  console.log(error.code, error.message);
}
