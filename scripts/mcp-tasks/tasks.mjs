/**
 * @module scripts/mcp-tasks/tasks
 * Twenty tasks as users give them to an agent: a question, the first call, and a check of the answer against
 * independent measurements. `solve` makes further calls if one is not enough; a check returns what is wrong.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { builtCommand } from '../lib/project.mjs';
import { Agent } from './agent.mjs';
import { BLURRED, CRFS, CUT, FORMAT, SHIFT } from './media.mjs';

const GEOMETRY = { width: FORMAT.width, height: FORMAT.height, pixfmt: '420', bitdepth: 8 };
const FAST = { encoder: 'libx264', encoder_options: { preset: 'veryfast' } };
const encodes = CRFS.map((_, i) => `e${i}.mp4`);

/** What is wrong if a number is too far from the right one. */
function near(what, value, right, tolerance) {
  return Math.abs(value - right) <= tolerance ? undefined : `${what} is ${value}, but ${right} is right`;
}

function must(holds, otherwise) {
  return holds ? undefined : otherwise;
}

const mean = (document, metric = 'vmaf') => document.pooled_metrics?.[metric]?.mean;

/** The parameters that fix a finding. */
function fixOf({ findings, preflight, next_action: next }) {
  if (next) return next.arguments;
  const all = findings ?? preflight ?? [];
  const fix = all.map((finding) => finding.fix).find((text) => text?.startsWith('{'));
  return JSON.parse(fix ?? '{}');
}

/** All text of an answer. */
const said = (document) => JSON.stringify(document);

/**
 * The tasks; those of `long` need minutes. `before` makes additional resources, and `after` ends them: `world` is the
 * result of `before`, beside the videos and the folder of jobs.
 */
export const TASKS = [
  {
    id: 'score-pair',
    question: 'How good is this encode? Score the two video files, with PSNR too.',
    tool: 'vmaf_score_encoded',
    arguments: { reference_encoded: 'master.mkv', distorted_encoded: 'e2.mp4', feature: ['psnr'] },
    check: (document, { media }) =>
      near('VMAF', mean(document), media.vmaf('master.mkv', 'e2.mp4'), 1e-4) ??
      near('PSNR', mean(document, 'psnr_y'), media.psnr('master.mkv', 'e2.mp4'), 0.01),
  },
  {
    id: 'wrong-raw-size',
    question: 'Score this raw YUV video against its reference, I think it is 640x360.',
    tool: 'vmaf_score',
    arguments: { ref: 'master.yuv', dis: 'e2.yuv', ...GEOMETRY, width: 512, height: 300 },
    async solve(agent, first) {
      if (!/bytes|size|frames/.test(first.error ?? ''))
        throw new Error(`a wrong size is not told: ${said(first)}`);
      return agent.call('vmaf_score', { ref: 'master.yuv', dis: 'e2.yuv', ...GEOMETRY });
    },
    check: (document, { media }) => near('VMAF', mean(document), media.vmaf('master.mkv', 'e2.mp4'), 1e-4),
  },
  {
    id: 'worst-frame',
    question: 'Which frames are the worst, and what is wrong there? Show and describe them.',
    tool: 'describe_worst_frames',
    arguments: { ref: 'master.mkv', dis: 'one-moment.mp4', n: 1, images: 'none' },
    check({ frames: [worst] }) {
      const { frame_index: at, facts } = worst;
      return (
        must(
          at >= BLURRED.first && at <= BLURRED.last,
          `frame ${at} is not one of those that were blurred`,
        ) ?? must(facts.blur.level !== 'none', `its blur is not seen: ${said(facts.blur)}`)
      );
    },
  },
  {
    id: 'crf-for-93',
    question: 'Which CRF does libx264 need for a quality of VMAF 93? In at most 60 s. Find the setting.',
    tool: 'find_quality',
    arguments: { source: 'master.mkv', ...FAST, targets: ['93'], max_seconds: 60 },
    check({ value: crf }, { media }) {
      const scoreAt = (at) => media.vmaf('master.mkv', media.encode(at, 'found.mp4'));
      return (
        must(scoreAt(crf) >= 92.5, `CRF ${crf} does not reach 93`) ??
        must(scoreAt(crf + 2) < 93, `CRF ${crf + 2} reaches 93 too`)
      );
    },
  },
  {
    id: 'compare-six',
    question: 'Compare these six encodes of one source: which is the best one per bit rate and size?',
    tool: 'compare_encodes',
    arguments: { reference: 'master.mkv', distorted: encodes },
    check(document) {
      const text = said(document);
      const order = encodes.map((name) => text.indexOf(name));
      return must(
        order.every((at, i) => at >= 0 && (i === 0 || order[i - 1] < at)),
        'the encodes are not in order of quality, best first',
      );
    },
  },
  {
    id: 'ladder',
    question: 'Build an encoding ladder of two sizes for this source.',
    tool: 'run_ladder',
    arguments: { src: 'master.mkv', resolutions: ['320x180', '160x90'], ...FAST, quality_tiers: 3 },
    check: (document) =>
      must(
        /320x180|"height":180/.test(said(document.rungs ?? document)),
        'no rung has the size of the source',
      ),
  },
  {
    id: 'misaligned',
    question:
      'The score looks wrong: inspect the pair before scoring. Is one of the videos shifted, offset or swapped?',
    tool: 'inspect_pair',
    arguments: { reference: 'master.mkv', distorted: 'shifted.mp4' },
    async solve(agent, first) {
      const { offset } = fixOf(first);
      if (offset === undefined) throw new Error(`no offset is advised: ${said(first).slice(0, 300)}`);
      return {
        offset,
        ...(await agent.call('vmaf_score_encoded', {
          reference_encoded: 'master.mkv',
          distorted_encoded: 'shifted.mp4',
          offset,
        })),
      };
    },
    check: (document) =>
      near('the offset', document.offset, SHIFT, 0) ??
      must(mean(document) > 85, `VMAF is ${mean(document)} although the offset is right`),
  },
  {
    id: 'hdr',
    question: 'Can these two be compared at all? One may be HDR. Inspect what would make the score wrong.',
    tool: 'inspect_pair',
    arguments: { reference: 'hdr.mkv', distorted: 'e1.mp4' },
    check: (document) =>
      must(/hdr|smpte2084|PQ/i.test(said(document)), 'the transfer function is not named') ??
      must(document.trust.verdict !== 'fine', 'the pair passes as fine'),
  },
  {
    id: 'banding',
    question: 'How much banding does this encode of a sky have? Score it with the feature cambi.',
    tool: 'vmaf_score_encoded',
    arguments: {
      reference_encoded: 'sky.mkv',
      distorted_encoded: 'banded.mkv',
      feature: ['cambi'],
    },
    check: (document) =>
      must(mean(document, 'cambi') > 1, `CAMBI is ${mean(document, 'cambi')} for bands of one level`),
  },
  {
    id: 'batch',
    question: 'Score this table of many pairs, each with its own reference.',
    tool: 'score_batch',
    arguments: {
      references: ['master.mkv', 'second.y4m', 'master.y4m', 'master.mkv'],
      distorted: ['e0.mp4', 'e1.mp4', 'e3.mp4', 'e5.mp4'],
    },
    check(document, { media }) {
      const scores = (document.pairs ?? document.rows ?? []).map((row) => row.score ?? row.vmaf ?? row.mean);
      return (
        must(scores.length === 4, `there are ${scores.length} rows: ${said(document).slice(0, 200)}`) ??
        must(
          scores.every((score, i) => i === 0 || score < scores[i - 1]),
          `rows are not in order: ${scores}`,
        ) ??
        near('the first', scores[0], media.vmaf('master.mkv', 'e0.mp4'), 1e-3)
      );
    },
  },
  {
    id: 'broken-file',
    question: 'Score this video file against its reference.',
    tool: 'vmaf_score_encoded',
    arguments: { reference_encoded: 'master.mkv', distorted_encoded: 'broken.mp4' },
    check: (document) =>
      must(
        /broken\.mp4/.test(document.error ?? '') &&
          /damaged|incomplete|cut off|truncated|moov|decode/i.test(document.error),
        `the damage is not named: ${said(document).slice(0, 300)}`,
      ),
  },
  {
    id: 'job-after-restart',
    question: 'Score these two video files, a long recording; I will ask for the scores later.',
    tool: 'vmaf_score_encoded',
    arguments: { reference_encoded: 'long.mkv', distorted_encoded: 'long.mp4' },
    server: ['--call-limit', '1'],
    async solve(agent, first, { media, cache }) {
      if (first.status !== 'working') throw new Error(`it is no job: ${said(first).slice(0, 200)}`);
      process.kill(agent.transport.pid, 'SIGKILL');
      await agent.close().catch(() => {});
      const second = await Agent.connect(media.folder, cache, '--call-limit', '45');
      try {
        Object.assign(second, { calls: agent.calls, tokens: agent.tokens, slowest: agent.slowest });
        return await second.settle(await second.follow(first));
      } finally {
        Object.assign(agent, { calls: second.calls, tokens: second.tokens, slowest: second.slowest });
        await second.close();
      }
    },
    check: (document, { media }) =>
      near(
        'the number of frames',
        document.frames_scored ?? document.frame_count ?? document.frames,
        media.longFrames,
        0,
      ),
  },
  {
    id: 'live-alarm',
    question: 'A measurement is running on this machine: tell me when its score drops below 60.',
    tool: 'list_live',
    arguments: {},
    async before({ media, cache }) {
      const command = [builtCommand(), media.at('master.y4m'), '-', '--live', 'sse:0', '--quiet'];
      const run = spawn(process.execPath, command, {
        stdio: ['pipe', 'ignore', 'pipe'],
        env: { ...process.env, ANYVMAF_CACHE: cache },
      });
      const told = new Promise((resolve) => run.stderr.once('data', resolve));
      const bytes = readFileSync(media.at('bad.y4m'));
      run.stdin.on('error', () => {});
      run.stdin.write(bytes.subarray(0, bytes.length / 3));
      await told;
      return { run, rest: bytes.subarray(bytes.length / 3) };
    },
    async solve(agent, first, { world: { rest, run } }) {
      const [session] = first.sessions;
      if (!session) throw new Error('no running measurement is listed');
      const live = await Agent.over(new StreamableHTTPClientTransport(new URL(session.mcp)));
      try {
        const waiting = live.call('vmaf.watch', { rule: 'min<60 for 5f' });
        run.stdin.end(rest);
        const alarm = await waiting;
        const { pooled } = await live.follow(alarm);
        agent.calls += live.calls;
        agent.tokens += live.tokens;
        return { ...alarm, pooled };
      } finally {
        await live.close();
      }
    },
    async after({ run }) {
      if (run.exitCode === null) {
        const over = once(run, 'exit');
        run.kill();
        await over;
      }
    },
    check: ({ raised, alarm, pooled }) =>
      must(raised && alarm.value < 60 && alarm.frame >= CUT, `the alarm is ${said(alarm)}`) ??
      must(pooled.vmaf.min < 60, 'next_action shows no low score'),
  },
  {
    id: 'colour-metric',
    question: 'Score two video files by SSIMULACRA 2, which sees colour.',
    tool: 'vmaf_score_encoded',
    arguments: {
      reference_encoded: 'master.mkv',
      distorted_encoded: 'e4.mp4',
      feature: ['ssimulacra2'],
      no_prediction: true,
    },
    async solve(agent, first) {
      const better = await agent.call('vmaf_score_encoded', {
        reference_encoded: 'master.mkv',
        distorted_encoded: 'e0.mp4',
        feature: ['ssimulacra2'],
        no_prediction: true,
      });
      return { worse: mean(first, 'ssimulacra2'), better: mean(better, 'ssimulacra2') };
    },
    check: ({ worse, better }) =>
      must(worse < better && better < 100 && better > 50, `the encodes have ${worse} and ${better}`),
  },
  {
    id: 'per-shot',
    question: 'Tune the encoder shot by shot: a setting for every shot of this video.',
    tool: 'run_tune_per_shot',
    arguments: { src: 'master.mkv', ...FAST, target_vmaf: 90, min_seconds: 0.5 },
    check({ shots }) {
      const starts = shots.map((shot) => shot.first_frame ?? shot.start_frame ?? shot.first ?? shot.start);
      return must(starts.includes(CUT), `the cut at frame ${CUT} is not found: ${said(shots).slice(0, 300)}`);
    },
  },
  {
    id: 'model-question',
    question:
      'What is the model vmaf_4k_v0.6.1 made of: which features does it read, what kind of regression?',
    tool: 'describe_model',
    arguments: { name: 'vmaf_4k_v0.6.1' },
    check: (document) =>
      must(
        ['adm2', 'motion2', 'vif_scale0', 'vif_scale3'].every((name) => said(document).includes(name)),
        'its features are not all named',
      ),
  },
  {
    id: 'bd-rate',
    question:
      'Compare two presets of an encoder by BD-rate: how many bits does the slow one save for equal quality?',
    tool: 'run_compare',
    arguments: {
      src: 'master.mkv',
      encoders: ['libx264:preset=superfast', 'libx264:preset=medium'],
      target_vmafs: [75, 93],
    },
    solve: (agent, first) => agent.settle(first),
    check: ({ deltas: [delta] }) =>
      must(delta.bd_rate_percent < 0, `preset medium saves nothing against superfast: ${said(delta)}`),
  },
  {
    id: 'no-reference',
    question: 'I have no reference. Score the distorted video alone with a tiny model.',
    tool: 'vmaf_score_encoded',
    arguments: { distorted_encoded: 'e0.mp4', tiny_model: 'nr_vmaf_v0.6.1', no_reference: true },
    async solve(agent, first) {
      const second = await agent.call('vmaf_score_encoded', {
        distorted_encoded: 'e5.mp4',
        tiny_model: 'nr_vmaf_v0.6.1',
        no_reference: true,
      });
      const score = ({ pooled_metrics: pooled }) => Object.values(pooled ?? {})[0]?.mean;
      return { good: score(first), bad: score(second) };
    },
    check: ({ good, bad }) => must(good > bad, `CRF ${CRFS[0]} has ${good}, CRF ${CRFS.at(-1)} has ${bad}`),
  },
  {
    id: 'size-limit',
    question: 'Start a job: find the encoder setting for at least 80, below 4 % of the size of the source.',
    tool: 'job_start',
    arguments: {
      tool: 'find_quality',
      arguments: { source: 'master.mkv', ...FAST, targets: ['80'], max_size: 0.04 },
    },
    solve: (agent, first) => agent.settle(first),
    check({ value, shortfall }, { media }) {
      media.encode(value, 'found.mp4');
      const most = 1.02 * 0.04 * media.size('master.mkv');
      return (
        must(!shortfall, `no setting does: ${said(shortfall)}`) ??
        must(
          media.size('found.mp4') <= most,
          `CRF ${value} makes ${media.size('found.mp4')} bytes, ${most} is the limit`,
        ) ??
        must(media.vmaf('master.mkv', 'found.mp4') > 79.5, `CRF ${value} does not reach 80`)
      );
    },
  },
  {
    id: '4k',
    long: true,
    question:
      'Which setting does libsvtav1 preset 4 need for VMAF 90 on this 4K source? Find it in at most 3 minutes.',
    tool: 'find_quality',
    arguments: {
      source: 'uhd.mkv',
      encoder: 'libsvtav1',
      encoder_options: { preset: '4' },
      targets: ['90'],
      max_seconds: 180,
    },
    before: ({ media }) => media.makeUhd(),
    async solve(agent, first) {
      const heard = [];
      const answer = await agent.settle(first, (document) => heard.push(document));
      if (answer.verdict !== 'unfinished') return { ...answer, heard };
      const { tool, arguments: on } = answer.next_action;
      const resumed = await agent.settle(await agent.call(tool, { ...on, max_encodes: 1 }));
      return { ...answer, heard, resumed };
    },
    check({ value, predicted, points, heard, resumed, unfinished }, { media }) {
      const lost = points.filter(
        (point) => resumed && !resumed.points.some((kept) => kept.value === point.value),
      );
      const isOpen = unfinished && unfinished.min <= value && value <= unfinished.max;
      return (
        must(heard.length > 0, 'it was no job') ??
        must(
          heard.every(({ progress }) => progress?.message),
          `a job does not say how far it is: ${said(heard)}`,
        ) ??
        must(heard.at(-1).progress.best?.startsWith(`${value} with`), `the best is ${said(heard.at(-1))}`) ??
        must(!unfinished || isOpen, `CRF ${value} is not within what is left: ${said(unfinished)}`) ??
        must(lost.length === 0, `measured again: ${said(lost)}`) ??
        must(!resumed || resumed.encodes <= 2, `the call that resumes makes ${resumed?.encodes} encodes`) ??
        near(`what CRF ${value} is said to score`, predicted, media.vmafOfUhd('4', value), 0.01)
      );
    },
  },
];
