import { clusterTexts } from './cluster.ts'
import { commonTexts } from './common.ts'
import { metaTexts } from './meta.ts'
import { podTexts } from './pods.ts'
import { workloadTexts } from './workloads.ts'

const tables = [metaTexts, podTexts, workloadTexts, clusterTexts]

/** Returns the description of a field by type and name, or by name; undefined when neither is known. */
export function textOf(typeName: string, member: string): string | undefined {
  const key = `${typeName === 'EphemeralContainer' ? 'Container' : typeName}.${member}`
  for (const table of tables) {
    if (Object.hasOwn(table, key)) return table[key]
  }
  return Object.hasOwn(commonTexts, member) ? commonTexts[member] : undefined
}
