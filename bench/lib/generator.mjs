/** The load generator of ../shared/bench, a Go program. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = join(root, '../shared/bench')
const program = join(root, 'bench/dist/load')

/** Builds the generator. Returns whether it is available, and prints the reason when it is not. */
export function buildGenerator(script) {
  if (!existsSync(join(source, 'main.go'))) {
    console.log(`${script} skipped: no load generator at ../shared/bench`)
    return false
  }
  mkdirSync(join(root, 'bench/dist'), { recursive: true })
  const { status, error, stderr } = spawnSync('go', ['build', '-o', program, '.'], { cwd: source, encoding: 'utf8' })
  if (status === 0) return true
  console.log(`${script} skipped: the load generator needs Go: ${error?.message ?? stderr}`)
  return false
}

/** Runs the generator with these arguments; yields one row for each workload. */
export async function* generate(args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface(child.stdout)) yield JSON.parse(line)
}
