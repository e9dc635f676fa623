/** Turns exports of the chunks of a bundle into plain members. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const getter = /Object\.defineProperty\(exports,(["'`][\w$]+["'`]),\{enumerable:!0,get:function\(\)\{return ([\w$]+)\}\}\)/g

/**
 * The bundler exports every binding by a getter, which each use in another chunk calls, although functions and classes are never
 * reassigned. Code that is not optimized yet spends a sixth of its time in these calls.
 *
 * @param chunk minified CommonJS, with exports at its end
 * @returns the chunk, whose exported functions and classes are plain members
 */
export function withDirectExports(chunk: string): string {
  return chunk.replace(getter, (whole: string, name: string, local: string) =>
    isDeclared(chunk, local) && !isAssigned(chunk, local) ? `exports[${name}]=${local}` : whole,
  )
}

function isDeclared(chunk: string, name: string): boolean {
  return new RegExp(`(?:function\\*? ?|class )${escaped(name)}(?![\\w$])`).test(chunk)
}

/** Also of a variable of the same name in another scope, which is rare. */
function isAssigned(chunk: string, name: string): boolean {
  return new RegExp(`(?<![\\w$.])${escaped(name)}=(?![=>])`).test(chunk)
}

function escaped(name: string): string {
  return name.replaceAll('$', '\\$')
}

/** Rewrites all chunks in a folder. */
export function writeDirectExports(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.cjs')) continue
    const file = join(folder, name)
    writeFileSync(file, withDirectExports(readFileSync(file, 'utf8')))
  }
}
