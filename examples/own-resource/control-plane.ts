import { type Authorizer, builtInKinds, createApiServer, defineResource, field, listen, memoryStorage } from 'krmkit'
import { z } from 'zod'

// A kind: its schema, its columns in kubectl, and validation that a schema cannot express.
export const Book = defineResource({
  group: 'library.example.com',
  kind: 'Book',
  shortNames: ['bk'],
  versions: {
    v1: {
      schema: z
        .object({
          spec: z.object({
            title: z.string().min(1).describe('As printed on the cover.'),
            copies: z.int().min(0).default(1).describe('Number of copies.'),
            lentTo: z.array(z.string()).default([]).describe('Current borrowers.'),
          }),
          status: z.object({ available: z.int() }).optional(),
        })
        .describe('A book of the library.'),
      columns: [
        { name: 'Title', type: 'string', jsonPath: '.spec.title' },
        { name: 'Available', type: 'integer', jsonPath: '.status.available' },
      ],
    },
  },
  strategy: {
    validate: ({ spec }) =>
      spec.lentTo.length > spec.copies ? [field.invalid('spec.lentTo', spec.lentTo, 'must not exceed the number of copies')] : [],
  },
})

// Who may do what: all clients read everything and write books, only the controller below writes their status.
const authorizer: Authorizer = {
  authorize({ user, verb, resource, subresource }) {
    const isReading = ['get', 'list', 'watch'].includes(verb)
    const isBook = resource === 'books' && subresource === ''
    const isAllowed = user.username === 'librarian' || isReading || isBook
    return { decision: isAllowed ? 'allow' : 'noOpinion', reason: '' }
  },
}

// A server with that kind, on a port. `lmdbStorage('data')` of krmkit keeps objects across restarts.
const plain = builtInKinds().filter(({ group, resource }) => group === '' && ['namespaces', 'configmaps'].includes(resource.name))
const server = await createApiServer({ storage: memoryStorage(), kinds: [...plain, Book], authorizer })
const listening = await listen(server, { port: Number(process.env.PORT ?? 8080), tls: false })
console.log(`kubectl --server ${listening.url} get books`)

// A controller: watches books and updates their status with a typed client.
const client = server.client({ user: 'librarian' })
const stopping = new AbortController()
process.once('SIGINT', () => stopping.abort()).once('SIGTERM', () => stopping.abort())
try {
  for await (const { type, object } of client.watch(Book, { signal: stopping.signal })) {
    if (type !== 'ADDED' && type !== 'MODIFIED') continue
    const { metadata, spec, status } = object
    const available = spec.copies - spec.lentTo.length
    if (status?.available === available) continue
    const { name = '', namespace = '' } = metadata
    const patch = { status: { available } }
    // The book may have been deleted meanwhile.
    await client.patch(Book, name, { namespace, subresource: 'status', type: 'merge', patch }).catch(console.error)
  }
} finally {
  await listening.close()
  await server.close()
}
