import { readdirSync, readFileSync } from 'node:fs'

/** Resident memory of a process and all that it started, in bytes. Linux only: 0 elsewhere. */
export function residentBytes(pid: number): number {
  return [pid, ...descendants(pid)].reduce((sum, each) => sum + residentOf(each), 0)
}

function descendants(pid: number): readonly number[] {
  const parents = new Map<number, number>()
  for (const name of directory('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = /^PPid:\s+(\d+)/m.exec(textOf(`/proc/${name}/status`))?.[1]
    if (parent !== undefined) parents.set(Number(name), Number(parent))
  }
  const childrenOf = (of: number): readonly number[] =>
    [...parents].flatMap(([child, parent]) => (parent === of ? [child, ...childrenOf(child)] : []))
  return childrenOf(pid)
}

function residentOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) * 1024
}

function directory(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

/** Empty for a process that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
