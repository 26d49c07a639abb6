/**
 * @module scripts/mcp-tasks/agent
 * A client that works like an agent: it ranks the tools by the words of its question, calls one, and sends the
 * `next_action` of an answer unchanged. It counts the cost for a host: calls, tokens of answers, seconds.
 */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { builtCommand } from '../lib/project.mjs';

/** Seconds after which hosts cancel a call, less a margin. */
export const LONGEST_CALL = 50;
/** Calls after which a task is abandoned. */
const MOST_CALLS = 30;

/** A connection to its own server, and its cost. */
export class Agent {
  calls = 0;
  tokens = 0;
  slowest = 0;
  #client;
  tools = [];

  /** @param arguments_ further options of the server */
  static async connect(folder, cache, ...arguments_) {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [builtCommand(), 'mcp', '--allow', folder, ...arguments_],
      cwd: folder,
      env: { ...process.env, ANYVMAF_CACHE: cache },
      stderr: 'pipe',
    });
    return Agent.over(transport);
  }

  static async over(transport) {
    const agent = new Agent();
    agent.#client = new Client({ name: 'tasks', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    agent.transport = transport;
    await agent.#client.connect(transport);
    agent.tools = (await agent.#client.listTools()).tools;
    return agent;
  }

  close() {
    return this.#client.close();
  }

  /** Calls a tool. @returns its document, or `{ error }` */
  async call(tool, args = {}) {
    const known = this.tools.find(({ name }) => name === tool);
    if (!known) throw new Error(`there is no tool ${tool} in tools/list`);
    const unknown = Object.keys(args).find((name) => !(name in known.inputSchema.properties));
    if (unknown !== undefined) throw new Error(`${tool} lists no parameter ${unknown}`);
    const answer = await this.send(tool, args);
    return answer.isError ? JSON.parse(answer.content[0].text) : answer.structuredContent;
  }

  /** Calls a tool with any arguments. @returns the answer in the protocol's form */
  async send(tool, args) {
    const began = performance.now();
    const answer = await this.#client.callTool(
      { name: tool, arguments: args },
      { timeout: 1000 * LONGEST_CALL },
    );
    this.calls++;
    this.slowest = Math.max(this.slowest, (performance.now() - began) / 1000);
    // Hosts count pictures in their own way.
    const text = answer.content.filter(({ type }) => type !== 'image');
    this.tokens += Math.ceil(JSON.stringify(text).length / 4);
    return answer;
  }

  /**
   * Polls jobs until the tool itself has answered.
   * @param hear gets the progress messages of a job
   */
  async settle(answer, hear = () => {}) {
    let document = answer;
    while (document.job_id !== undefined && document.next_action) {
      if (document.status === 'working') hear(document);
      if (this.calls >= MOST_CALLS) throw new Error(`no end after ${this.calls} calls: ${document.summary}`);
      document = await this.follow(document);
    }
    return document;
  }

  /** Sends the next action of an answer. */
  follow({ next_action: next, summary }) {
    if (!next) throw new Error(`the answer names no next action: ${summary}`);
    return this.call(next.tool, next.arguments);
  }

  /**
   * The rank of a tool among all by the words that its name, title and description share with a question; 1 is the
   * first.
   */
  rank(question, wanted) {
    const documents = this.tools.map(({ name, title = '', description = '' }) =>
      wordsOf(`${name} ${name} ${title} ${title} ${description}`),
    );
    const weight = (word) =>
      Math.log(1 + documents.length / (1 + documents.filter((words) => words.includes(word)).length));
    const scores = documents.map((words) => {
      const shared = [...new Set(wordsOf(question))].filter((word) => words.includes(word));
      return shared.reduce(
        (sum, word) => sum + weight(word) * (1 + Math.log(words.filter((one) => one === word).length)),
        0,
      );
    });
    const own = scores[this.tools.findIndex(({ name }) => name === wanted)];
    return 1 + scores.filter((score) => score > own).length;
  }
}

/** Words without endings. */
function wordsOf(text) {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? [])
    .filter((word) => word.length > 2)
    .map((word) => word.replace(/(?:ings?|ed|es|s|e)$/, ''));
}
