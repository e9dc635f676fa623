/** Preloaded into a server: SIGUSR2 writes its memory figures to the file BENCH_MEMORY_FILE, SIGWINCH those after a full collection. */
import { renameSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'

const file = process.env.BENCH_MEMORY_FILE

process.on('SIGUSR2', write)
process.on('SIGWINCH', async () => {
  globalThis.gc()
  // Other threads release the memory of buffers.
  await setTimeout(200)
  globalThis.gc()
  write()
})

function write() {
  writeFileSync(`${file}.new`, JSON.stringify(figures()))
  renameSync(`${file}.new`, file)
}

function figures() {
  const spaces = getHeapSpaceStatistics()
  const young = spaces.find(({ space_name: name }) => name === 'new_space')?.physical_space_size ?? 0
  return { ...process.memoryUsage(), young }
}
