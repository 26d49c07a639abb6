import type { Plugin } from 'vite';

export function textModules(): Plugin;
