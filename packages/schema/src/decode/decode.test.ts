import { describe, expect, it } from 'vitest'
import { testTypes } from '../../testdata/types.ts'
import { stringifyJson } from '../json/encode-json.direct.ts'
import { parseJson } from '../json/parse-json.direct.ts'
import { DecodeError } from '../schema-error.ts'
import { decode, decodeUntyped, strictMessage } from './index.ts'

const types = testTypes()

function read(type: string, text: string | object): { text: string; problems: readonly string[] } {
  const parsed = parseJson(typeof text === 'string' ? text : JSON.stringify(text), { literals: true })
  const { object, problems } = decode(types.struct(type), parsed.value, { duplicates: parsed.duplicates })
  return { text: stringifyJson(object), problems }
}

function failure(type: string, text: string | object): string {
  try {
    read(type, text)
  } catch (error) {
    if (error instanceof DecodeError) return error.message
    throw error
  }
  return 'no error'
}

const configMap = 'core/v1.ConfigMap'
const meta = '"metadata":{"creationTimestamp":null}'

describe('canonical objects', () => {
  it('orders members by field, sorts maps, and fills in the zero values that Go prints', () => {
    expect(
      read(configMap, {
        data: { b: '2', a: '1' },
        metadata: { labels: { z: '', y: 'é' }, name: 'x' },
        kind: 'ConfigMap',
        apiVersion: 'v1',
      }).text,
    ).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","creationTimestamp":null,"labels":{"y":"é","z":""}},"data":{"a":"1","b":"2"}}',
    )
    expect(read(configMap, '{}').text).toBe(`{${meta}}`)
    expect(read(configMap, 'null').text).toBe(`{${meta}}`)
    expect(read('core/v1.Service', '{}').text).toBe(`{${meta},"spec":{},"status":{"loadBalancer":{}}}`)
    expect(read('core/v1.ServiceList', '{"metadata":null}').text).toBe('{"metadata":{},"items":null}')
    expect(read('core/v1.ServiceList', '{"items":[]}').text).toBe('{"metadata":{},"items":[]}')
  })

  it('omits empty values but keeps pointers to empty values', () => {
    expect(read(configMap, { data: {}, binaryData: null, immutable: null }).text).toBe(`{${meta}}`)
    expect(read(configMap, { data: { a: null }, immutable: false }).text).toBe(`{${meta},"immutable":false,"data":{"a":""}}`)
    expect(read(configMap, { binaryData: { a: '', b: null } }).text).toBe(`{${meta},"binaryData":{"a":"","b":null}}`)
    expect(
      read('core/v1.Pod', { spec: { containers: [null], hostNetwork: false, priority: 0, securityContext: {}, volumes: [] } })
        .text,
    ).toBe(`{${meta},"spec":{"containers":[{"name":"","resources":{}}],"securityContext":{},"priority":0},"status":{}}`)
  })

  it('normalizes quantities, times, base64 and int-or-string values', () => {
    const claim = { spec: { resources: { requests: { storage: '1024Mi', cpu: 1000, x: 0.5, y: ' 10 ' } } } }
    expect(read('core/v1.PersistentVolumeClaim', claim).text).toContain(
      '{"requests":{"cpu":"1k","storage":"1Gi","x":"500m","y":"10"}}',
    )
    expect(read('core/v1.PersistentVolumeClaim', '{"spec":{"resources":{"limits":{"a":1e3,"b":null}}}}').text).toContain(
      '{"a":"1e3","b":"0"}',
    )
    const times = { metadata: { creationTimestamp: '2024-05-01T12:00:00.5+02:00', deletionTimestamp: '2024-02-29T23:59:59Z' } }
    expect(read(configMap, times).text).toBe(
      '{"metadata":{"creationTimestamp":"2024-05-01T10:00:00Z","deletionTimestamp":"2024-02-29T23:59:59Z"}}',
    )
    expect(read(configMap, { metadata: { creationTimestamp: '0001-01-01T00:00:00Z' } }).text).toBe(`{${meta}}`)
    expect(read('coordination/v1.Lease', { spec: { renewTime: '2024-05-01T12:00:00.123456+02:00' } }).text).toContain(
      '"renewTime":"2024-05-01T10:00:00.123456Z"',
    )
    expect(read(configMap, { binaryData: { a: 'YW\nJj\r\n', b: 'YR==', c: [97, 98, null] } }).text).toContain(
      '{"a":"YWJj","b":"YQ==","c":"YWIA"}',
    )
    const service = {
      spec: {
        ports: [{ port: 1, targetPort: 'http' }, { port: 2, targetPort: 8080 }, { port: 3 }, { port: 4, targetPort: null }],
      },
    }
    expect(read('core/v1.Service', service).text).toContain(
      '[{"port":1,"targetPort":"http"},{"port":2,"targetPort":8080},{"port":3,"targetPort":0},{"port":4,"targetPort":0}]',
    )
  })

  it('keeps untyped values', () => {
    const revision = { data: { b: { d: 1.5, c: [null, {}] }, a: 9007199254740993n.toString() }, revision: 3 }
    expect(read('apps/v1.ControllerRevision', revision).text).toContain(
      '"data":{"b":{"d":1.5,"c":[null,{}]},"a":"9007199254740993"},"revision":3',
    )
    expect(read('apps/v1.ControllerRevision', '{"data":null}').text).toContain('"data":null')
    const table = '{"columnDefinitions":[],"rows":[{"cells":["a",1,1.0,null,{"b":2,"a":1}],"object":null}]}'
    expect(read('meta/v1.Table', table).text).toContain('"cells":["a",1,1,null,{"b":2,"a":1}]')
    const managed = { metadata: { managedFields: [{ manager: 'm', fieldsV1: { 'f:z': {}, 'f:a': { '.': {} } } }] } }
    expect(read(configMap, managed).text).toContain('"fieldsV1":{"f:z":{},"f:a":{".":{}}}')
  })

  it('decodes schemas of custom resources', () => {
    const schema = (value: string) =>
      read(
        'apiextensions/v1.CustomResourceDefinition',
        `{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":${value}}}]}}`,
      ).text
    expect(
      schema('{"default":{"b":1,"a":null},"items":{"type":"string"},"additionalProperties":true,"enum":["b",1,null]}'),
    ).toContain(
      '"openAPIV3Schema":{"default":{"a":null,"b":1},"enum":["b",1,null],"items":{"type":"string"},"additionalProperties":true}',
    )
    expect(
      schema('{"items":[{"type":"a"},null],"additionalProperties":{"type":"x"},"additionalItems":false,"maximum":1.0}'),
    ).toContain(
      '"openAPIV3Schema":{"maximum":1,"items":[{"type":"a"},{}],"additionalProperties":{"type":"x"},"additionalItems":false}',
    )
    expect(schema('{"items":[],"additionalProperties":null,"dependencies":{"a":["b"],"c":{"type":"d"},"e":null}}')).toContain(
      '"openAPIV3Schema":{"items":null,"dependencies":{"a":["b"],"c":{"type":"d"},"e":null}}',
    )
  })

  it('is idempotent', () => {
    const pod = { spec: { containers: [{ name: 'c', ports: [{ containerPort: 1 }] }], nodeSelector: { b: '', a: '' } } }
    const once = read('core/v1.Pod', pod).text
    expect(read('core/v1.Pod', once).text).toBe(once)
  })

  it('shares nothing with its input', () => {
    const value = Object.freeze({
      data: Object.freeze({ a: '1' }),
      metadata: Object.freeze({ finalizers: Object.freeze(['a']) }),
    })
    const { object } = decode<{ data: Record<string, string>; metadata: { finalizers: string[] } }>(
      types.struct(configMap),
      value,
    )
    object.data.b = '2'
    object.metadata.finalizers.push('b')
    expect(value.data).toEqual({ a: '1' })
  })
})

const mismatches: [string, string | object, string][] = [
  [configMap, { data: [] }, 'json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string'],
  [configMap, { data: 'x' }, 'json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string'],
  [configMap, { data: { k: 1 } }, 'json: cannot unmarshal number into Go struct field ConfigMap.data of type string'],
  [configMap, { immutable: 'true' }, 'json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool'],
  [
    configMap,
    { metadata: { labels: { a: { b: 'c' } } } },
    'json: cannot unmarshal object into Go struct field ObjectMeta.metadata.labels of type string',
  ],
  [
    configMap,
    { metadata: { name: 1 } },
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
  ],
  [
    configMap,
    { metadata: { uid: 1 } },
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID',
  ],
  [
    configMap,
    { metadata: { creationTimestamp: 1 } },
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
  ],
  [configMap, '[]', 'json: cannot unmarshal array into Go value of type v1.ConfigMap'],
  [configMap, { binaryData: { a: '***' } }, 'illegal base64 data at input byte 0'],
  [configMap, { binaryData: { a: 'YQ' } }, 'illegal base64 data at input byte 0'],
  [configMap, { binaryData: { a: 'YWJjYQ=a' } }, 'illegal base64 data at input byte 6'],
  [configMap, { binaryData: { a: 'YQ==YQ==' } }, 'illegal base64 data at input byte 4'],
  [configMap, { binaryData: { a: 'YQ=' } }, 'illegal base64 data at input byte 3'],
  ['core/v1.Secret', { data: { a: 1 } }, 'json: cannot unmarshal number into Go struct field Secret.data of type []uint8'],
  [
    'core/v1.Pod',
    { spec: { volumes: [{ nfs: 'x' }] } },
    'json: cannot unmarshal string into Go struct field Volume.spec.volumes.nfs of type v1.NFSVolumeSource',
  ],
  [
    'core/v1.Pod',
    { spec: { volumes: [{ configMap: { defaultMode: 'x' } }] } },
    'json: cannot unmarshal string into Go struct field ConfigMapVolumeSource.spec.volumes.configMap.defaultMode of type int32',
  ],
  [
    'core/v1.Pod',
    { spec: { volumes: [{ configMap: { defaultMode: 2147483648 } }] } },
    'json: cannot unmarshal number 2147483648 into Go struct field ConfigMapVolumeSource.spec.volumes.configMap.defaultMode of type int32',
  ],
  [
    'core/v1.Pod',
    '{"spec":{"priority":1.0}}',
    'json: cannot unmarshal number 1.0 into Go struct field PodSpec.spec.priority of type int32',
  ],
  [
    'core/v1.Pod',
    '{"spec":{"activeDeadlineSeconds":1e3}}',
    'json: cannot unmarshal number 1e3 into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64',
  ],
  [
    'core/v1.Pod',
    '{"spec":{"activeDeadlineSeconds":9223372036854775808}}',
    'json: cannot unmarshal number 9223372036854775808 into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64',
  ],
  [
    'core/v1.PersistentVolumeClaim',
    { spec: { accessModes: 'x' } },
    'json: cannot unmarshal string into Go struct field PersistentVolumeClaimSpec.spec.accessModes of type []v1.PersistentVolumeAccessMode',
  ],
  [
    'core/v1.PersistentVolumeClaim',
    { spec: { resources: { limits: [] } } },
    'json: cannot unmarshal array into Go struct field VolumeResourceRequirements.spec.resources.limits of type v1.ResourceList',
  ],
  [
    'core/v1.PersistentVolumeClaim',
    { spec: { resources: { limits: { a: 'x' } } } },
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [
    'core/v1.PersistentVolumeClaim',
    { spec: { resources: { limits: { a: true } } } },
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [
    'core/v1.Service',
    { spec: { ports: [{ targetPort: true }] } },
    'json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type int32',
  ],
  [
    'core/v1.Service',
    { spec: { ports: [{ targetPort: 1.5 }] } },
    'json: cannot unmarshal number 1.5 into Go struct field ServicePort.spec.ports.targetPort of type int32',
  ],
  [
    'core/v1.ReplicationController',
    { spec: { selector: { a: {} } } },
    'json: cannot unmarshal object into Go struct field ReplicationControllerSpec.spec.selector of type string',
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    { spec: { versions: {} } },
    'json: cannot unmarshal object into Go struct field CustomResourceDefinitionSpec.spec.versions of type []v1.CustomResourceDefinitionVersion',
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    { spec: { versions: [{ schema: { openAPIV3Schema: { properties: { a: { exclusiveMinimum: 1 } } } } }] } },
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.exclusiveMinimum of type bool',
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    { spec: { versions: [{ schema: { openAPIV3Schema: { items: { type: 1 } } } }] } },
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items of type string',
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    { spec: { versions: [{ schema: { openAPIV3Schema: { additionalProperties: 1 } } }] } },
    'boolean or JSON schema expected',
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    { spec: { versions: [{ subresources: { status: true } }] } },
    'json: cannot unmarshal bool into Go struct field CustomResourceSubresources.spec.versions.subresources.status of type v1.CustomResourceSubresourceStatus',
  ],
  [
    'core/v1.Event',
    { eventTime: '2020-01-02' },
    'parsing time "2020-01-02" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "" as "T"',
  ],
  [
    configMap,
    { metadata: { creationTimestamp: 'yesterday' } },
    'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
  ],
]

describe('type mismatches', () => {
  it.each(mismatches)("reports Go's message for %s %j [P200 P210]", (type, value, message) => {
    expect(failure(type, value)).toBe(message)
  })

  it('reports the first mismatch unless unparsable text ends decoding [P200]', () => {
    expect(failure(configMap, { immutable: 1, data: 1 })).toContain('ConfigMap.immutable of type bool')
    expect(failure(configMap, { immutable: 1, metadata: { creationTimestamp: 'x' } })).toContain('parsing time')
    expect(failure(configMap, { binaryData: { a: '*' }, data: 1 })).toBe('illegal base64 data at input byte 0')
  })

  it('reports a mismatch rather than unknown fields [P200]', () => {
    expect(failure(configMap, { extra: 1, data: 'x' })).toContain('cannot unmarshal string')
  })

  it('rejects deep nesting where values are kept', () => {
    const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    expect(failure('apps/v1.ControllerRevision', `{"data":${deep(990)}}`)).toBe('no error')
    expect(failure('apps/v1.ControllerRevision', `{"data":${deep(1001)}}`)).toBe('exceeded max depth')
    expect(read(configMap, `{"unknown":${deep(9000)}}`).problems).toEqual(['unknown field "unknown"'])
    const schema = `${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}`
    expect(
      failure('apiextensions/v1.CustomResourceDefinition', `{"spec":{"versions":[{"schema":{"openAPIV3Schema":${schema}}}]}}`),
    ).toBe('exceeded max depth')
    const items = `${'{"items":'.repeat(5000)}{}${'}'.repeat(5000)}`
    expect(
      failure('apiextensions/v1.CustomResourceDefinition', `{"spec":{"versions":[{"schema":{"openAPIV3Schema":${items}}}]}}`),
    ).toBe('exceeded max depth')
  })
})

describe('unknown and duplicate fields', () => {
  it('drops unknown fields and names each one in document order [P202 P205 P208]', () => {
    const { text, problems } = read(
      configMap,
      '{"extra":1,"metadata":{"name":"a","colour":"red"},"data":{"k":"v"},"Data":{},"spec":null}',
    )
    expect(text).toBe('{"metadata":{"name":"a","creationTimestamp":null},"data":{"k":"v"}}')
    expect(problems).toEqual([
      'unknown field "extra"',
      'unknown field "metadata.colour"',
      'unknown field "Data"',
      'unknown field "spec"',
    ])
    expect(strictMessage(problems)).toBe(
      'strict decoding error: unknown field "extra", unknown field "metadata.colour", unknown field "Data", unknown field "spec"',
    )
    expect(strictMessage([])).toBeUndefined()
  })

  it('includes list indexes and map keys in paths [P208]', () => {
    const pod = { spec: { containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { fieldRef: { deep: 1 } } }] }] } }
    expect(read('core/v1.Pod', pod).problems).toEqual(['unknown field "spec.containers[0].env[0].valueFrom.fieldRef.deep"'])
    const service = { spec: { ports: [{ port: 80 }, { port: 81, colour: 'red' }], nope: true }, more: {} }
    expect(read('core/v1.Service', service).problems).toEqual([
      'unknown field "spec.ports[1].colour"',
      'unknown field "spec.nope"',
      'unknown field "more"',
    ])
    const crd = { spec: { versions: [{ schema: { openAPIV3Schema: { properties: { f: { readOnly: true } } } } }] } }
    expect(read('apiextensions/v1.CustomResourceDefinition', crd).problems).toEqual([
      'unknown field "spec.versions[0].schema.openAPIV3Schema.properties.f.readOnly"',
    ])
    expect(read(configMap, { 'quote"back\\slash, comma': 1 }).problems).toEqual(['unknown field "quote\\"back\\\\slash, comma"'])
  })

  it('keeps the last value of a duplicate field and names it once [P203 P208]', () => {
    const first = read(configMap, '{"metadata":{"name":"a","name":"b"},"data":{"k":"1","k":"2"}}')
    expect(first.text).toBe('{"metadata":{"name":"b","creationTimestamp":null},"data":{"k":"2"}}')
    expect(first.problems).toEqual(['duplicate field "metadata.name"', 'duplicate field "data.k"'])
    const three = read(configMap, '{"data":{"k":"1","k":"2","k":"3"},"data":{"l":"1"}}')
    expect(three.problems).toEqual(['duplicate field "data.k"', 'duplicate field "data"'])
    expect(three.text).toContain('"data":{"k":"3","l":"1"}')
    const both = read(configMap, '{"extra":1,"data":{"k":"1","k":"2"},"extra":2}')
    expect(both.problems).toEqual(['unknown field "extra"', 'duplicate field "data.k"'])
    expect(read(configMap, '{"kind":"Secret","kind":"ConfigMap"}').text).toBe(`{"kind":"ConfigMap",${meta}}`)
    expect(read('core/v1.Service', '{"spec":{"ports":[{"port":80},{"port":81,"port":82}]}}').problems).toEqual([
      'duplicate field "spec.ports[1].port"',
    ])
  })

  it('merges a duplicate struct into the earlier one [P203]', () => {
    const text =
      '{"metadata":{"name":"a","labels":{"x":"1"},"uid":"u","uid":"v"},"metadata":{"namespace":"n","labels":{"y":"2"},"name":null}}'
    const { text: printed, problems } = read(configMap, text)
    expect(printed).toBe(
      '{"metadata":{"name":"a","namespace":"n","uid":"v","creationTimestamp":null,"labels":{"x":"1","y":"2"}}}',
    )
    expect(problems).toEqual(['duplicate field "metadata.uid"', 'duplicate field "metadata"'])
    expect(read(configMap, '{"immutable":true,"immutable":null}').text).toBe(`{${meta}}`)
  })

  it('ignores duplicates inside raw values', () => {
    const { problems, text } = read('apps/v1.ControllerRevision', '{"data":{"a":1,"a":2},"x":{"b":1,"b":2}}')
    expect(problems).toEqual(['unknown field "x"'])
    expect(text).toContain('"data":{"a":2}')
  })

  it('reports at most 100 problems', () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`x${i}`, 1]))
    expect(read(configMap, many).problems).toHaveLength(100)
  })

  it('collects nothing with collect: false', () => {
    const parsed = parseJson('{"extra":1,"data":{"k":"1","k":"2"}}')
    const { problems, object } = decode(types.struct(configMap), parsed.value, { duplicates: parsed.duplicates, collect: false })
    expect(problems).toEqual([])
    expect(object).toMatchObject({ data: { k: '2' } })
  })

  it('treats hostile keys as data', () => {
    const { text, problems } = read(configMap, '{"__proto__":{"a":1},"constructor":1,"data":{"__proto__":"x","constructor":"y"}}')
    expect(text).toContain('"data":{"__proto__":"x","constructor":"y"}')
    expect(problems).toEqual(['unknown field "__proto__"', 'unknown field "constructor"'])
  })
})

describe('decodeUntyped', () => {
  it('reports duplicate fields only [P203]', () => {
    const parsed = parseJson('{"kind":"Widget","spec":{"b":1.0,"a":[{"x":1,"x":2}]},"spec":{"c":1}}', { literals: true })
    const { object, problems } = decodeUntyped(parsed.value, { duplicates: parsed.duplicates })
    expect(object).toEqual({ kind: 'Widget', spec: { c: 1 } })
    expect(problems).toEqual(['duplicate field "spec.a[0].x"', 'duplicate field "spec"'])
    expect(() => decodeUntyped([])).toThrow('json: cannot unmarshal array into Go value of type map[string]interface {}')
  })
})
