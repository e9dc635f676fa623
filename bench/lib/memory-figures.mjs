/** What the resident memory of a server is made of. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const probe = fileURLToPath(new URL('memory-probe.mjs', import.meta.url))
const mebi = 2 ** 20

/** Node flags of a server that can be measured. */
export const measured = ['--expose-gc', '--import', probe]

/**
 * Figures in MiB: `resident`, of which `anonymous` (heap, buffers, stacks), `map` (pages of the files of LMDB) and `files` (the program);
 * `heap` in use, `committed` heap, of which `young` is the young generation; `buffers` outside the heap.
 */
export async function memoryFigures(pid) {
  const { heapUsed, heapTotal, arrayBuffers, young } = await askProbe(pid, 'SIGUSR2')
  return { ...mapped(pid), ...inMebi({ heap: heapUsed, committed: heapTotal, young, buffers: arrayBuffers }) }
}

/** The figures after a full collection. */
export async function collectedFigures(pid) {
  await askProbe(pid, 'SIGWINCH')
  return memoryFigures(pid)
}

/** The file that the probe of a server writes; set before the server starts. */
const folder = mkdtempSync(join(tmpdir(), 'krmkit-memory-'))
const file = join(folder, 'figures.json')
process.env.BENCH_MEMORY_FILE = file
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

async function askProbe(pid, signal) {
  rmSync(file, { force: true })
  process.kill(pid, signal)
  for (let waits = 0; !existsSync(file); waits++) {
    if (waits > 600) throw new Error('the server does not answer with its memory figures')
    await setTimeout(100)
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}

function inMebi(bytes) {
  return Object.fromEntries(Object.entries(bytes).map(([name, value]) => [name, value / mebi]))
}

/** Resident pages by what they map, from /proc. */
function mapped(pid) {
  const sums = { resident: 0, anonymous: 0, map: 0, files: 0 }
  let name = ''
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const head = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)$/.exec(line)
    if (head !== null) name = head[1]
    const found = /^(Rss|Anonymous):\s+(\d+) kB/.exec(line)
    if (found === null) continue
    const size = Number(found[2]) / 1024
    if (found[1] === 'Anonymous') {
      sums.anonymous += size
      if (name.startsWith('/')) sums[name.endsWith('.mdb') ? 'map' : 'files'] -= size
      continue
    }
    sums.resident += size
    if (name.startsWith('/')) sums[name.endsWith('.mdb') ? 'map' : 'files'] += size
  }
  return sums
}
