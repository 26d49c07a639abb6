import { align, inspect } from 'anyvmaf';

const request = { reference: 'master.mov', distorted: 'encode.mp4' };
const { reference, distorted, findings } = await inspect(request);
console.log(`${reference.width}x${reference.height}`, `${distorted.width}x${distorted.height}`);
for (const { code, severity, message } of findings) console.log(code, severity, message);

const { offset, confidence, explanation } = await align(request, { window: 10 });
console.log(offset, confidence, explanation);
