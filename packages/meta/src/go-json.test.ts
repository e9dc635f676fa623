import { describe, expect, it } from 'vitest'
import { goJson, goSyntaxToJson } from './go-json.ts'
import { goText } from './go-text.ts'

describe('goSyntaxToJson', () => {
  it.each([
    ['[]string{"a", "b \\"c\\""}', '["a","b \\"c\\""]'],
    ['[]string(nil)', 'null'],
    ['map[string]string{"app":"x", "b":"c"}', '{"app":"x","b":"c"}'],
    ['map[string]interface {}{"name":"x", "list":[]interface {}{1, interface {}(nil)}}', '{"name":"x","list":[1,null]}'],
    ['rbac.RoleRef{APIGroup:"g", Kind:"Role", Name:"r2"}', '{"APIGroup":"g","Kind":"Role","Name":"r2"}'],
    [
      'v1.LabelSelector{MatchLabels:map[string]string{"app":"x"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}',
      '{"matchLabels":{"app":"x"}}',
    ],
    [
      'resource.Quantity{i:resource.int64Amount{value:500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"500m", Format:"DecimalSI"}',
      '"500m"',
    ],
    [
      'core.ServicePort{Name:"", Protocol:"TCP", AppProtocol:(*string)(nil), Port:80, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}',
      '{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    ],
    [
      'v1.OwnerReference{APIVersion:"v1", Kind:"Pod", Name:"", UID:"u", Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}',
      '{"apiVersion":"v1","kind":"Pod","name":"","uid":"u"}',
    ],
    ['[]core.Thing{core.Thing{A:"a", B:true, private:1}}', '[{"A":"a","B":true}]'],
    ['[]byte{0x68, 0x69}', '"aGk="'],
    ['runtime.RawExtension{Raw:[]uint8{0x7b, 0x22, 0xc3, 0xa9, 0x22, 0x3a, 0x32, 0x7d}, Object:runtime.Object(nil)}', '{"é":2}'],
    ['runtime.RawExtension{Raw:[]uint8(nil), Object:runtime.Object(nil)}', 'null'],
    ['0x0', '0'],
    ['a b', '"a b"'],
    ['"<\\u2028\\x01"', '"\\u003c\\u2028\\u0001"'],
    ['2024-05-01 10:00:00 +0000 UTC', '"2024-05-01T10:00:00Z"'],
    ['0001-01-01 00:00:00 +0000 UTC', 'null'],
    ['[]string{"cut...', '"[]string{\\"cut..."'],
  ])('converts %s', (text, json) => {
    expect(goSyntaxToJson(text)).toBe(json)
  })

  it('takes linear time for nested and unfinished text', () => {
    const start = performance.now()
    for (const text of ['[]a{'.repeat(4000), 'a.'.repeat(8000), 'map[a]'.repeat(3000), '\\'.repeat(16_000)]) goSyntaxToJson(text)
    expect(performance.now() - start).toBeLessThan(1000)
  })
})

it('shows the beginning of a very long text', () => {
  const bytes = `[]byte{${'0x61, '.repeat(200_000)}0x61}`
  const json = goSyntaxToJson(bytes)
  expect([json.length < 20_000, json.startsWith('"[]byte{0x61')]).toEqual([true, true])
  expect(goSyntaxToJson(`[]byte{${'0x61, '.repeat(30_000)}0x61}`)).toMatch(/^"YWFh/)
})

describe('goJson', () => {
  it('sorts maps, and takes the JSON that a text carries', () => {
    expect(goJson({ b: [1, null, true], a: 'x', c: goText('5', '"5"') })).toBe('{"a":"x","b":[1,null,true],"c":"5"}')
  })

  it('prints absent values and texts of classes', () => {
    expect([goJson(undefined), goJson(Object.create({ toString: () => 'text' }))]).toEqual(['null', '"text"'])
  })
})
