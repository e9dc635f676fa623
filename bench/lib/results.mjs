/** Results on disk: machine, date and results of one run. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../results', import.meta.url))

export function machine() {
  const [first] = cpus()
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: `${cpus().length} × ${first?.model.trim() ?? 'unknown'}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  }
}

/** Writes `bench/results/<name>.json`. */
export function saveResults(name, figures) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify({ machine: machine(), ...figures }, null, 2)}\n`)
}
