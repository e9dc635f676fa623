import { describe, expect, it } from 'vitest'
import { finalizerWarnings } from './finalizer-warnings.ts'

const object = (...finalizers: string[]) => ({ apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a', finalizers } })

describe('finalizers of custom resources', () => {
  it('gives no warning for names with a domain and a path, or for those of the server', () => {
    expect(finalizerWarnings(object('example.com/hold', 'orphan', 'foregroundDeletion', 'kubernetes'), undefined)).toEqual([])
    expect(finalizerWarnings({ apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a' } }, undefined)).toEqual([])
  })

  it('warns once, when a finalizer is added', () => {
    const warnings = finalizerWarnings(object('hold', 'example.com', 'bad name'), undefined)
    expect(warnings).toHaveLength(4)
    expect(warnings[0]).toMatch(/^metadata.finalizers: "bad name": name part must consist of/)
    expect(warnings[1]).toMatch(/^metadata.finalizers: "bad name": prefer a domain-qualified finalizer name to avoid/)
    expect(warnings[2]).toMatch(/^metadata.finalizers: "example.com": prefer .* including a path \(\/\) to avoid/)
    expect(warnings[3]).toMatch(/^metadata.finalizers: "hold": prefer/)
    expect(finalizerWarnings(object('hold', 'b/c'), object('hold'))).toEqual([])
  })
})
