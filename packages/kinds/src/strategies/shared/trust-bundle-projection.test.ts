import { expect, it } from 'vitest'
import { testContext } from '../testing/context.ts'
import { validateWith } from './strategy.direct.ts'
import { validateTrustBundleProjection } from './trust-bundle-projection.ts'

const found = (projection: object) =>
  validateWith(testContext(), (errors) =>
    validateTrustBundleProjection({ path: 'ca.crt', ...projection }, errors.child('x')),
  ).map(({ field, message }) => `${field}: ${message.split(' (e.g.')[0]}`)

it('has the name of a bundle or of a signer', () => {
  for (const one of [{ name: 'a' }, { name: 'example.com:signer:a' }, { signerName: 'example.com/signer', labelSelector: {} }])
    expect(found(one)).toEqual([])
  expect(found({})).toEqual(['x: Required value: either name or signerName must be specified'])
  expect(found({ name: 'a', signerName: 'b', path: '' })).toEqual([
    'x: Invalid value: core.ClusterTrustBundleProjection{Name:(*string)(0x0), SignerName:(*string)(0x0), LabelSelector:(*v1.LabelSelector)(nil), Optional:(*bool)(nil), Path:""}: only one of name and signerName may be used',
    'x.path: Required value',
  ])
  expect(found({ name: 'A', labelSelector: {} })).toEqual([
    expect.stringContaining('x.name: Invalid value: "A": not a valid clustertrustbundlename: a lowercase RFC 1123 subdomain'),
    expect.stringContaining('labelSelector must be unset if name is specified'),
  ])
  expect(found({ signerName: 'b', path: '../x' })).toEqual([
    expect.stringContaining('x.signerName: Invalid value: "b": must be a fully qualified domain and path'),
    'x.path: Invalid value: "../x": must not contain \'..\'',
  ])
})
