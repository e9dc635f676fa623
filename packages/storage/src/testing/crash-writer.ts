/**
 * The process killed by the crash test: 32 concurrent writers, which report acknowledged writes on standard output, one line
 * `revision key` each (`-key` for a deletion).
 *
 *     node crash-writer.js <dir> <seed>
 */
import { writeSync } from 'node:fs'
import { RandomChoices } from '@krmkit/base/random-choices'
import { lmdbStorage } from '../lmdb/lmdb-storage.ts'
import { crashValue } from './crash-value.ts'

const [dir = '', seed = '1'] = process.argv.slice(-2)
const storage = await lmdbStorage({ dir })
const choices = new RandomChoices(Number(seed))
const say = (line: string) => writeSync(1, `${line}\n`)

say('ready')
await Promise.all(
  Array.from({ length: 32 }, async (_, hand) => {
    for (;;) {
      const key = `/crash/${hand}/${choices.below(20)}`
      const size = choices.chance(5) ? 20_000 : choices.below(2000)
      const isDelete = choices.chance(15)
      const encode = (revision: number) => crashValue(key, revision, size)
      const result = await (isDelete ? storage.delete(key, encode) : storage.put(key, encode))
      if (result.outcome === 'written') say(`${result.entry.revision} ${isDelete ? '-' : ''}${key}`)
      if (hand === 0 && choices.chance(3)) await storage.defragment?.()
      if (choices.chance(1)) await storage.compact(Math.max(storage.compacted, storage.revision - choices.below(200)))
    }
  }),
)
