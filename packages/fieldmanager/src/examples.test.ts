import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { apply, explainConflict, ownership } from './index.ts'

describe('README example', () => {
  it('produces the values shown in its comments', () => {
    const config = (k: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k } })
    const live = apply({ applied: config('1'), manager: 'ci' }).object
    const { conflicts } = apply({ live, applied: config('2'), manager: 'me' })
    const forced = apply({ live, applied: config('2'), manager: 'me', force: true })
    const [conflict] = conflicts
    if (conflict === undefined) throw new Error('no conflict')
    const remarks = [
      conflict.message,
      explainConflict(conflict, { live, applied: config('2') }).resolutions.share,
      ownership(forced.object)
        .slice(0, 2)
        .map(({ field, owners }) => `'${field} ${owners[0]?.manager}'`)
        .join(', '),
    ]
    expect(forced.changes).toMatchObject([{ kind: 'modified', field: '.data.k', before: '1', after: '2' }])
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    for (const remark of remarks) expect(readme).toContain(remark)
  })
})
