import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { packageFolders, root, sourceFiles } from './source-files.ts'

/**
 * V8 allocates a hidden class in the old generation for each generator function, class and accessor of a literal that a running function
 * makes, and the hidden class keeps what they capture until the next full collection. Made for each request, they keep the request: the
 * heap grows, and its collections with it. They belong to modules and classes.
 */

/** Where they are made seldom, by file. */
const seldom: Readonly<Record<string, string>> = {
  'packages/admission/src/webhook/dispatcher.ts': 'for each call of a webhook that is a function',
  'packages/apiserver/src/request/deadline.ts': 'for each request to a backend',
  'packages/apiserver/src/handlers/watch.ts': 'for each watch',
  'packages/apiserver/src/openapi/publisher.ts': 'for each document',
  'packages/cli/src/storage/import-source.ts': 'for each import',
  'packages/cli/src/threads/fresh-reads.ts': 'for each thread',
  'packages/cli/src/watched-file.ts': 'for each file',
  'packages/client/src/client.ts': 'for each watch and each raw request',
  'packages/client/src/protobuf-codec.ts': 'for each watch',
  'packages/controllers/src/framework/metadata-client.ts': 'for each controller',
  'packages/controllers/src/node-simulation/kubelet.ts': 'for each log that is followed',
  'packages/kinds/src/custom/custom-definitions.ts': 'for each definition',
  'packages/kinds/src/custom/custom-strategy.ts': 'for each definition',
  'packages/kinds/src/custom/object-converter.ts': 'for each definition',
  'packages/kinds/src/defined/defined-strategy.ts': 'for each definition',
  'packages/kinds/src/releases/gated-fields.ts': 'for each release',
  'packages/kinds/src/strategies/admissionregistration/admission-expressions.ts': 'for each validation of a policy',
  'packages/kinds/src/strategies/admissionregistration/webhook-configuration/strategy.ts': 'for each kind',
  'packages/kinds/src/strategies/apiextensions/custom-resource-definition/default-validation.ts': 'for each definition',
  'packages/kinds/src/strategies/apiextensions/custom-resource-definition/expression-validation.ts': 'for each definition',
  'packages/kinds/src/strategies/apiextensions/custom-resource-definition/rules.ts': 'for each definition',
  'packages/kinds/src/strategies/apiextensions/custom-resource-definition/strategy.ts': 'for each server',
  'packages/kinds/src/strategies/apiextensions/custom-resource-definition/structural-validation.ts': 'for each definition',
  'packages/kinds/src/strategies/certificates/certificate-signing-request/strategy.ts': 'for each server',
  'packages/kinds/src/strategies/certificates/cluster-trust-bundle/strategy.ts': 'for each server',
  'packages/kinds/src/strategies/certificates/pod-certificate-request/strategy.ts': 'for each server',
  'packages/kinds/src/strategies/flowcontrol/flow-control-strategy.ts': 'for each kind',
  'packages/kinds/src/strategies/rbac/role-binding/strategy.ts': 'for each kind',
  'packages/kinds/src/strategies/rbac/role.ts': 'for each kind',
  'packages/kinds/src/strategies/shared/status-kind.ts': 'for each kind',
  'packages/kinds/src/strategies/shared/strategy.ts': 'for each kind',
  'packages/krmkit/src/validate/value-shape.ts': 'for each schema',
  'packages/meta/src/clock.ts': 'for each clock',
  'packages/registry/src/versions/version-converter.ts': 'for each server',
  'packages/registry/src/registry.ts': 'for each server',
  'packages/registry/src/read/watch.ts': 'for each watch',
  'packages/schema/src/rules/rule-tree.ts': 'for each schema',
  'packages/schema/src/model/type-node.ts': 'for each type',
  'packages/schema/src/structural/junctors.ts': 'for each schema',
  'packages/schema/src/structural/validate.ts': 'for each schema',
  'packages/storage/src/lmdb/store-reader.ts': 'for each opening of a store',
  'packages/storage/src/socket/serve-storage.ts': 'for each connection',
}

function isMadeByFunction(node: ts.Node): boolean {
  if (ts.isClassLike(node)) return true
  if (ts.isObjectLiteralExpression(node)) {
    return node.properties.some((member) => {
      const isGenerator = ts.isMethodDeclaration(member) && member.asteriskToken !== undefined
      return isGenerator || ts.isGetAccessor(member) || ts.isSetAccessor(member)
    })
  }
  return (ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node)) && node.asteriskToken !== undefined
}

/** Whether a function makes a hidden class each time it runs. */
function makesHiddenClasses(text: string): boolean {
  const visit = (node: ts.Node, inFunction: boolean): boolean => {
    if (inFunction && isMadeByFunction(node)) return true
    const within = inFunction || (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined)
    return ts.forEachChild(node, (child) => visit(child, within) || undefined) === true
  }
  return visit(ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true), false)
}

it('generator functions, classes and accessors are not made for each request', () => {
  const files = packageFolders()
    .flatMap((name) => sourceFiles(`packages/${name}/src`))
    .filter((file) => !/\.test\.ts$|\.fixture\.ts$|\/testing\/|^packages\/(testing|create-krmkit)\//.test(file))
  const found = files.filter((file) => makesHiddenClasses(readFileSync(join(root, file), 'utf8')))
  expect(found.sort()).toEqual(Object.keys(seldom).sort())
})

it('what a function makes is found', () => {
  expect(makesHiddenClasses('const f = (a) => ({ get b() { return a } })')).toBe(true)
  expect(makesHiddenClasses('function f(a) { return g(function* () { yield a }) }')).toBe(true)
  expect(makesHiddenClasses('function f(a) { return { *g() { yield a } } }')).toBe(true)
  expect(
    makesHiddenClasses(
      'function* f(a) { yield a }\nclass C { get b() { return 1 } *d() {} }\nconst e = { get h() { return 1 } }',
    ),
  ).toBe(false)
})
