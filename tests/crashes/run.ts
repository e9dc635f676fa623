import { join } from 'node:path'
import { fillDisk, flipBits, killWriters } from '../../packages/storage/src/testing/crash-runs.ts'
import { withTempDir } from '../../packages/storage/src/testing/temp-dir.ts'

/**
 * `npm run crashes -- [--kills N] [--full-disks N] [--flips N] [--seed N]`: durable stores whose writers are killed, whose disk is full, and
 * whose file has a flipped bit. Exits with 1 when an acknowledged write is lost, another is invented, or damage is served.
 */

const children: Readonly<Record<string, () => Promise<unknown>>> = {
  'crash-writer': () => import('../../packages/storage/src/testing/crash-writer.ts'),
  'full-disk-writer': () => import('../../packages/storage/src/testing/full-disk-writer.ts'),
  'bit-flipper': () => import('../../packages/storage/src/testing/bit-flipper.ts'),
}
const [child = ''] = process.argv.slice(2)
const start = children[child]
// Not awaited: the bundled parts wait for the end of this one.
void (start ?? main)()

async function main(): Promise<void> {
  const { parseArgs } = await import('node:util')
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '200' },
      'full-disks': { type: 'string', default: '20' },
      flips: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
    },
  })
  const [kills, disks, flips, seed] = [values.kills, values['full-disks'], values.flips, values.seed].map(Number) as [
    number,
    number,
    number,
    number,
  ]
  const program = (name: string) => [process.argv[1] ?? '', name]
  if (kills > 0) {
    await withTempDir(async (dir) => {
      const { acknowledged } = await killWriters(program('crash-writer'), { dir: join(dir, 'killed'), rounds: kills, seed })
      console.log(`${kills} kills of 32 writers: ${acknowledged} acknowledged writes, none lost, none invented`)
    })
  }
  const totals = { acknowledged: 0, refused: 0, recovered: 0 }
  for (let disk = 0; disk < disks; disk++) {
    await withTempDir(async (dir) => {
      const { acknowledged, refused, recovered } = await fillDisk(program('full-disk-writer'), { dir, blocks: 500 + 100 * disk })
      totals.acknowledged += acknowledged
      totals.refused += refused
      if (recovered) totals.recovered++
    })
  }
  if (disks > 0)
    console.log(
      `${disks} full disks: ${totals.acknowledged} acknowledged writes, none lost; ${totals.refused} refused; ${totals.recovered} written on with space again`,
    )
  if (flips > 0) {
    await withTempDir(async (dir) => {
      const { reported, harmless } = await flipBits(program('bit-flipper'), { dir, rounds: flips, seed })
      console.log(`${flips} flipped bits: ${reported} reported, ${harmless} without effect, none served`)
    })
  }
}
