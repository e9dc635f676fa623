import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testTerminal } from '../offline/testing/test-terminal.ts'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder()

function blame(object: object) {
  const path = join(folder, 'object.json')
  writeFileSync(path, JSON.stringify(object))
  return runCommand(['blame', path], testTerminal())
}

describe('krmkit blame', () => {
  it('prints control characters of a file escaped', async () => {
    const entry = {
      manager: '\u001b[2J',
      operation: 'Apply',
      time: '\u009b1A',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': {} },
    }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', managedFields: [entry] }, data: { a: 'b' } }
    const { out } = await blame(object)
    expect(out).toContain('\\u001b[2J  Apply  \\u009b1A')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not occur
    expect(out).not.toMatch(/[\u001b\u009b]/)
  })

  it('names an entry of managedFields that is no object', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', managedFields: [null] } }
    const { err, code } = await blame(object)
    expect([code, err]).toEqual([2, expect.stringContaining('ConfigMap a: metadata.managedFields[0] must be an object\n')])
  })
})
